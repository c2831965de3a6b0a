// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Counter sets and their devices in one slice, as Kubernetes 1.34 requires them. */
public class JointSlicePlannerTest {

    static CounterSet set(String name, int counters) {
        return CounterSet.of(name, counters(counters));
    }

    private static Map<String, Quantity> counters(int count) {
        return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "c" + i, i -> Quantity.of(1)));
    }

    public static Device device(String name, String... sets) {
        Device.Builder device = Device.builder(name);
        Arrays.stream(sets).forEach(set -> device.consumes(CounterConsumption.of(set, counters(1))));
        return device.build();
    }

    /** GPUs of so many partitions each, in the order of the GPUs. */
    public static Pool gpus(int from, int to, int partitions) {
        List<CounterSet> sets =
                IntStream.range(from, to).mapToObj(i -> set("gpu-" + i, 2)).toList();
        List<Device> devices = sets.stream()
                .flatMap(set ->
                        IntStream.range(0, partitions).mapToObj(i -> device(set.name() + "-part-" + i, set.name())))
                .toList();
        return Pool.ofNode("node-a", devices).withCounterSets(sets);
    }

    public static Pool with(Pool pool, Device... more) {
        List<Device> devices = new ArrayList<>(pool.devices());
        devices.addAll(List.of(more));
        return Pool.ofNode(pool.name().value(), devices).withCounterSets(pool.counterSets());
    }

    private static List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before) {
        assertThat(CounterLayout.TOGETHER.problems(pool)).isEmpty();
        return CounterLayout.TOGETHER.plan(pool, before, true);
    }

    private static List<String> brief(List<PlannedSlice> plan) {
        return plan.stream()
                .map(slice -> place(slice)
                        + Stream.concat(
                                        slice.content().counterSets().stream().map(CounterSet::name),
                                        slice.content().devices().stream()
                                                .map(it -> it.name().value()))
                                .collect(Collectors.joining(" ", ": ", "")))
                .toList();
    }

    private static int place(PlannedSlice slice) {
        return (slice.index() - SliceIndexes.FIRST) / SliceIndexes.STEP;
    }

    @Nested
    class AFirstPlan {

        @Test
        void hasASliceForEachCounterSetWithItsDevicesAndOthersForTheRest() {
            Pool pool = with(gpus(0, 2, 2), device("nic-0"), device("gpu-0-full", "gpu-0"));

            assertThat(brief(plan(pool, List.of())))
                    .containsExactly(
                            "0: gpu-0 gpu-0-part-0 gpu-0-part-1 gpu-0-full",
                            "1: gpu-1 gpu-1-part-0 gpu-1-part-1",
                            "2: nic-0");
            assertThat(plan(pool, List.of()))
                    .allSatisfy(
                            slice -> assertThat(slice.content().sliceCount()).isEqualTo(3));
        }

        @Test
        void putsSetsThatDevicesShareIntoOneSlice() {
            Pool pool = Pool.ofNode(
                            "node-a",
                            List.of(device("x", "c", "d"), device("y", "a", "c"), device("z", "b"), device("w", "d")))
                    .withCounterSets(Stream.of("a", "b", "c", "d", "e")
                            .map(name -> set(name, 1))
                            .toList());

            assertThat(brief(plan(pool, List.of()))).containsExactly("0: a c d x y w", "1: b z", "2: e");
        }

        @Test
        void hasOneSliceForAnEmptyPool() {
            assertThat(brief(plan(Pool.ofNode("node-a", List.of()), List.of()))).containsExactly("0: ");
        }
    }

    @Nested
    class ALaterPlan {

        @Test
        void changesOneSliceForOneDevice() {
            List<PlannedSlice> first = plan(with(gpus(0, 4, 2), device("nic-0")), List.of());
            Pool more = with(gpus(0, 4, 2), device("nic-0"), device("gpu-2-full", "gpu-2"));

            List<PlannedSlice> second = plan(more, first);

            assertThat(second).filteredOn(slice -> !first.contains(slice)).hasSize(1);
            assertThat(brief(second)).contains("2: gpu-2 gpu-2-part-0 gpu-2-part-1 gpu-2-full");
            assertThat(plan(more, second)).isEqualTo(second);
        }

        @Test
        void leavesTheOthersWhereTheyAreWhenAGpuGoesAndTakesItsSliceWhenOneComes() {
            List<PlannedSlice> first = plan(with(gpus(0, 3, 1), device("nic-0")), List.of());

            List<PlannedSlice> second = plan(with(gpus(1, 3, 1), device("nic-0")), first);
            assertThat(brief(second)).containsExactly("1: gpu-1 gpu-1-part-0", "2: gpu-2 gpu-2-part-0", "3: nic-0");

            assertThat(brief(plan(with(gpus(1, 4, 1), device("nic-0")), second)))
                    .containsExactly(
                            "0: gpu-3 gpu-3-part-0", "1: gpu-1 gpu-1-part-0", "2: gpu-2 gpu-2-part-0", "3: nic-0");
        }

        @Test
        void ofSetsThatComeLaterLeavesDevicesWhereTheyAre() {
            Pool plain = Pool.ofNode("node-a", List.of(device("nic-0")));

            assertThat(brief(plan(with(gpus(0, 1, 1), device("nic-0")), plan(plain, List.of()))))
                    .containsExactly("1: gpu-0 gpu-0-part-0", "0: nic-0");
        }

        @Test
        void dividesAGroupThatNothingLinksAnyMore() {
            Pool alone = gpus(0, 3, 1);
            List<PlannedSlice> linked = plan(with(alone, device("pair", "gpu-0", "gpu-1")), List.of());
            assertThat(brief(linked))
                    .containsExactly("0: gpu-0 gpu-1 gpu-0-part-0 gpu-1-part-0 pair", "1: gpu-2 gpu-2-part-0");

            assertThat(brief(plan(alone, linked)))
                    .containsExactly("0: gpu-0 gpu-0-part-0", "1: gpu-2 gpu-2-part-0", "2: gpu-1 gpu-1-part-0");
        }
    }

    @Nested
    class AnotherRelease {

        private final Pool pool = with(gpus(0, 10, 8), device("nic-0"));

        @Test
        void takesTheSetsOutOfTheSlicesAndLeavesTheDevicesThere() {
            List<PlannedSlice> together = plan(pool, List.of());

            List<PlannedSlice> apart = CounterLayout.APART.plan(pool, together, true);

            assertThat(apart)
                    .noneMatch(slice -> slice.content().devices().size() > 0
                            && slice.content().counterSets().size() > 0);
            assertThat(apart).filteredOn(it -> it.content().devices().isEmpty()).hasSize(2);
            assertThat(homes(apart)).isEqualTo(homes(together));
            assertThat(CounterLayout.APART.plan(pool, apart, true)).isEqualTo(apart);
        }

        @Test
        void isThatOfTheRelease() {
            assertThat(KubernetesVersion.values())
                    .filteredOn(release -> CounterLayout.of(release) != CounterLayout.APART)
                    .containsExactly(KubernetesVersion.V1_34);
        }

        private static Map<String, Integer> homes(List<PlannedSlice> plan) {
            return plan.stream()
                    .flatMap(slice -> slice.content().devices().stream()
                            .map(it -> Map.entry(it.name().value(), slice.index())))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        }
    }

    @Nested
    class APoolWithoutRoom {

        private static List<String> problems(Pool pool) {
            return CounterLayout.TOGETHER.problems(pool).stream()
                    .map(Problem::toString)
                    .toList();
        }

        @Test
        void hasMoreDevicesOfASetThanASliceTakes() {
            assertThat(problems(gpus(0, 2, 128))).isEmpty();
            assertThat(problems(with(gpus(0, 2, 128), device("late", "gpu-1"))))
                    .containsExactly("pool node-a, field sharedCounters[gpu-1]: must have at most 128 devices that"
                            + " consume from it: Kubernetes 1.34 requires the set and its devices in one slice; offer fewer,"
                            + " or use Kubernetes 1.35; found 129");
            assertThat(CounterLayout.APART.problems(gpus(0, 1, 200))).isEmpty();
        }

        @Test
        void hasMoreCountersInSetsThatDevicesShareThanASliceTakes() {
            Pool pool = Pool.ofNode("node-a", List.of(device("x", "a", "b")))
                    .withCounterSets(List.of(set("a", 16), set("b", 16), set("c", 32)));
            assertThat(problems(pool)).isEmpty();

            assertThat(problems(pool.withCounterSets(List.of(set("a", 16), set("b", 17)))))
                    .singleElement()
                    .asString()
                    .startsWith("pool node-a, field sharedCounters[a, b]: must have at most 32 counters:")
                    .endsWith("found 33");
        }

        @Test
        void hasDevicesThatConsumeMoreCountersThanASliceTakes() {
            List<Device> devices = IntStream.range(0, 32)
                    .mapToObj(i -> Device.builder("d" + i))
                    .map(it -> it.consumes(CounterConsumption.of("a", counters(32))))
                    .map(Device.Builder::build)
                    .toList();
            Pool full = Pool.ofNode("node-a", devices).withCounterSets(List.of(set("a", 32)));
            assertThat(problems(full)).isEmpty();

            assertThat(problems(with(full, device("late", "a"))))
                    .singleElement()
                    .asString()
                    .contains("pool node-a, field sharedCounters[a]", "at most 1024 counters")
                    .endsWith("found 1025");
        }
    }

    @Nested
    class ABadPool {

        @Test
        void withADeviceOfAnUnknownSetIsRefused() {
            Pool bad = Pool.ofNode("node-a", List.of(device("x", "s")));

            assertThatThrownBy(() -> CounterLayout.TOGETHER.plan(bad, List.of(), true))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Pool node-a: Device x: consumesCounters names the counter set s, which"
                            + " the pool does not have");
        }

        @Test
        void withTwoSetsOfOneNameIsRefused() {
            Pool bad = gpus(0, 1, 1).withCounterSets(List.of(set("gpu-0", 1), set("gpu-0", 2)));

            assertThatThrownBy(() -> CounterLayout.TOGETHER.plan(bad, List.of(), true))
                    .hasMessage("Pool node-a: the name gpu-0 is used twice");
        }
    }
}
