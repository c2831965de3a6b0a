// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import io.dra4j.testkit.Scenarios;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Counter sets and their devices in one slice, as Kubernetes 1.34 requires them; joint-slices.txt has the plans. */
public class JointSlicePlannerTest implements ScenarioSteps {

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

    /** A pool of devices and counter sets: {@code gpus:0-2x2}, {@code set:a/16}, {@code x{a,b}} or a plain one. */
    private static Pool pool(Stream<String> parts) {
        Pool.Builder pool = Pool.builder("node-a");
        parts.forEach(part -> {
            String[] words = part.split("[:/{}x-]");
            if (part.startsWith("gpus:")) {
                Pool gpus = gpus(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                gpus.counterSets().forEach(pool::counterSet);
                gpus.devices().forEach(pool::device);
            } else if (part.startsWith("set:")) {
                pool.counterSet(set(words[1], Integer.parseInt(words[2])));
            } else if (part.startsWith("thirsty:")) {
                IntStream.range(0, Integer.parseInt(words[1]))
                        .mapToObj(i -> Device.builder("d" + i)
                                .consumes(CounterConsumption.of("a", counters(32)))
                                .build())
                        .forEach(pool::device);
            } else {
                String[] sets =
                        part.contains("{") ? part.replaceAll(".*\\{|}", "").split(",") : new String[0];
                pool.device(device(part.replaceAll("\\{.*", ""), sets));
            }
        });
        return pool.build();
    }

    private static List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before) {
        assertThat(CounterLayout.TOGETHER.problems(pool)).isEmpty();
        return CounterLayout.TOGETHER.plan(pool, before, true);
    }

    private static String brief(PlannedSlice slice) {
        return (slice.index() - SliceIndexes.FIRST) / SliceIndexes.STEP
                + Stream.concat(
                                slice.content().counterSets().stream().map(CounterSet::name),
                                slice.content().devices().stream()
                                        .map(it -> it.name().value()))
                        .collect(Collectors.joining(" ", ": ", ""));
    }

    private List<PlannedSlice> plan = List.of();
    private List<PlannedSlice> before = List.of();

    @Override
    public void run(String[] words, String text) {
        Stream<String> parts = Stream.of(words).skip(1);
        switch (words[0]) {
            case "plan" -> {
                before = plan;
                plan = plan(pool(parts), before);
                assertThat(plan(pool(Stream.of(words).skip(1)), plan))
                        .as("again")
                        .isEqualTo(plan);
            }
            case "slices" ->
                assertThat(list(plan.stream().map(JointSlicePlannerTest::brief), " | "))
                        .isEqualTo(text);
            case "has" -> assertThat(plan).map(JointSlicePlannerTest::brief).contains(text);
            case "changed" ->
                assertNumber(
                        plan.stream().filter(slice -> !before.contains(slice)).count(), words, text);
            case "count" -> assertThat(plan).allMatch(slice -> slice.content().sliceCount() == Integer.parseInt(text));
            case "fits" ->
                assertThat(CounterLayout.TOGETHER.problems(pool(parts))).isEmpty();
            case "fits-apart" ->
                assertThat(CounterLayout.APART.problems(pool(parts))).isEmpty();
            case "problem" ->
                assertThat(CounterLayout.TOGETHER.problems(pool(parts)))
                        .singleElement()
                        .asString()
                        .contains(text.split(" \\| "));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("joint-slices.txt")
    void setsAndTheirDevicesAreInOneSlice(String scenario) throws Exception {
        play(scenario);
    }

    @Nested
    class AnotherRelease {

        private final Pool pool = pool(Stream.of("gpus:0-10x8", "nic-0"));

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
