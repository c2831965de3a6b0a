// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class SlicePlannerTest {

    private static final Taint TAINT = Taint.of("example.com/bad", null, Taint.Effect.NO_SCHEDULE);

    private static List<Device> gpus(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> Device.builder("gpu-" + i).build())
                .toList();
    }

    private static List<PlannedSlice> plan(List<Device> devices, List<PlannedSlice> before) {
        return SlicePlanner.plan(Pool.ofNode("node-a", devices), before, false);
    }

    /** Returns the devices as the scheduler meets them. */
    private static List<Device> devices(List<PlannedSlice> plan) {
        return plan.stream()
                .sorted(Comparator.comparing(PlannedSlice::index))
                .flatMap(slice -> slice.content().devices().stream())
                .toList();
    }

    private static List<Integer> sizes(List<PlannedSlice> plan) {
        return plan.stream().map(slice -> slice.content().devices().size()).toList();
    }

    private static List<Device> changed(List<Device> devices, int index, UnaryOperator<Device> by) {
        List<Device> copy = new ArrayList<>(devices);
        copy.set(index, by.apply(copy.get(index)));
        return copy;
    }

    private static Pool changed(Pool pool, int index, UnaryOperator<Device> by) {
        return Pool.ofNode(pool.name().value(), changed(pool.devices(), index, by));
    }

    @Nested
    class AFirstPlan {

        @Test
        void fillsSlicesInTheOrderOfTheInventory() {
            List<PlannedSlice> plan = plan(gpus(0, 300), List.of());

            assertThat(sizes(plan)).containsExactly(128, 128, 44);
            assertThat(devices(plan)).isEqualTo(gpus(0, 300));
            assertThat(plan)
                    .allSatisfy(s -> assertThat(s.content().sliceCount()).isEqualTo(3));
        }

        @Test
        void takesSixtyFourToASliceWithATaintACounterOrAList() {
            Map<String, Quantity> one = Map.of("c", Quantity.of(1));
            List<UnaryOperator<Device>> specials = List.of(
                    d -> d.toBuilder().taint(TAINT).build(),
                    d -> d.toBuilder().consumes(CounterConsumption.of("s", one)).build(),
                    d -> d.toBuilder()
                            .attribute("l", new AttributeValue.OfInts(List.of(1L)))
                            .build());

            for (UnaryOperator<Device> special : specials) {
                assertThat(sizes(plan(changed(gpus(0, 65), 7, special), List.of())))
                        .containsExactly(64, 1);
            }
        }

        @Test
        void hasOneSliceForAnEmptyPool() {
            assertThat(sizes(plan(List.of(), List.of()))).containsExactly(0);
        }

        @Test
        void ofAProviderThatMayTaintLeavesRoomSoThatTheFirstTaintMovesNothing() {
            Pool plain = Pool.ofNode("node-a", gpus(0, 130));
            List<PlannedSlice> first = SlicePlanner.plan(plain, List.of(), true);
            assertThat(sizes(first)).containsExactly(64, 64, 2);

            Pool tainted = changed(plain, 7, gpu -> gpu.toBuilder().taint(TAINT).build());
            List<PlannedSlice> second = SlicePlanner.plan(tainted, first, true);

            assertThat(sizes(second)).containsExactly(64, 64, 2);
            assertThat(second.subList(1, 3)).isEqualTo(first.subList(1, 3));
        }

        @Test
        void putsCounterSetsIntoSlicesOfTheirOwn() {
            List<CounterSet> sets = IntStream.range(0, 9)
                    .mapToObj(i -> CounterSet.of("s" + i, Map.of("c", Quantity.of(1))))
                    .toList();

            List<PlannedSlice> plan =
                    SlicePlanner.plan(Pool.ofNode("node-a", gpus(0, 2)).withCounterSets(sets), List.of(), false);

            assertThat(plan)
                    .extracting(slice -> slice.content().counterSets().size())
                    .containsExactly(8, 1, 0);
            assertThat(sizes(plan)).containsExactly(0, 0, 2);
        }
    }

    @Nested
    class ALaterPlan {

        @Test
        void ofNoDeviceKeepsASlice() {
            List<PlannedSlice> before = plan(gpus(128, 300), plan(gpus(0, 300), List.of()));

            List<PlannedSlice> empty = plan(List.of(), before);

            assertThat(sizes(empty)).containsExactly(0);
            assertThat(empty.get(0).index()).isEqualTo(before.get(0).index());
            assertThat(plan(List.of(), empty)).isEqualTo(empty);
            assertThat(plan(gpus(0, 1), empty))
                    .extracting(PlannedSlice::index)
                    .containsExactly(empty.get(0).index());
        }

        @Test
        void movesOnlyWhatDoesNotFitUnderTheLowerLimit() {
            List<PlannedSlice> before = plan(gpus(0, 100), List.of());

            List<PlannedSlice> plan = plan(
                    changed(gpus(0, 100), 3, d -> d.toBuilder().taint(TAINT).build()), before);

            assertThat(sizes(plan)).containsExactly(64, 36);
            assertThat(plan.get(1).content().devices()).isEqualTo(gpus(64, 100));
        }
    }

    @Nested
    class ABadPool {

        @Test
        void withTwoDevicesOfOneNameIsRefused() {
            List<Device> twice = List.of(gpus(0, 1).get(0), gpus(0, 1).get(0));

            assertThatThrownBy(() -> plan(twice, List.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Pool node-a: the name gpu-0 is used twice");
        }

        @Test
        void withRawFieldsThatAreNoJsonIsRefused() {
            List<Device> bad =
                    List.of(Device.builder("gpu-0").rawField("alpha", "{").build());

            assertThatThrownBy(() -> plan(bad, List.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("Pool node-a: Device gpu-0: raw field alpha: Not JSON");
        }

        @Test
        void withARawFieldThatHasAMethodIsRefused() {
            List<Device> bad =
                    List.of(Device.builder("gpu-0").rawField("taints", "[]").build());

            assertThatThrownBy(() -> plan(bad, List.of())).hasMessageContaining("taints");
        }

        @Test
        void withAPlacementForDevicesIsRefused() {
            Pool bad = Pool.builder("p")
                    .placement(new Placement.NamedNode("node-a"))
                    .devices(gpus(0, 1))
                    .build();

            assertThatThrownBy(() -> SlicePlanner.plan(bad, List.of(), false))
                    .hasMessageStartingWith("Pool p: Placement is not for pools");
        }
    }
}
