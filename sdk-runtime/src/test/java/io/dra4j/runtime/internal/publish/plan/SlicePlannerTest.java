// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.testkit.Scenarios;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Plans, one after the other, as slice-plans.txt says. */
class SlicePlannerTest implements ScenarioSteps {

    private static final Taint TAINT = Taint.of("example.com/bad", null, Taint.Effect.NO_SCHEDULE);

    private static List<Device> gpus(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> Device.builder("gpu-" + i).build())
                .toList();
    }

    /** Devices from a number to another, of which one may be tainted, consume counters or have a list. */
    private static List<Device> devices(String... words) {
        String[] numbers = words[1].split("-");
        List<Device> devices = new ArrayList<>(gpus(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])));
        if (words.length > 2) {
            String[] special = words[2].split("@");
            devices.replaceAll(gpu -> gpu.name().value().equals("gpu-" + special[1]) ? with(special[0], gpu) : gpu);
        }
        return devices;
    }

    private static Device with(String feature, Device gpu) {
        Device.Builder device = gpu.toBuilder();
        return switch (feature) {
            case "tainted" -> device.taint(TAINT).build();
            case "counted" ->
                device.consumes(CounterConsumption.of("s", Map.of("c", Quantity.of(1))))
                        .build();
            default ->
                device.attribute("l", new AttributeValue.OfInts(List.of(1L))).build();
        };
    }

    private static List<Integer> sizes(List<PlannedSlice> plan) {
        return plan.stream().map(slice -> slice.content().devices().size()).toList();
    }

    private List<PlannedSlice> plan = List.of();
    private List<PlannedSlice> before = List.of();
    private boolean mayTaint;

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "may-taint" -> mayTaint = true;
            case "plan" -> {
                Pool pool = Pool.ofNode("node-a", devices(words));
                before = plan;
                plan = SlicePlanner.plan(pool, before, mayTaint);
                assertThat(list(sizes(plan).stream())).isEqualTo(text);
                assertThat(plan)
                        .allMatch(slice -> slice.content().sliceCount() == plan.size())
                        .isSortedAccordingTo(Comparator.comparing(PlannedSlice::index))
                        .flatExtracting(slice -> slice.content().devices())
                        .isEqualTo(pool.devices());
                assertThat(SlicePlanner.plan(pool, plan, mayTaint)).as("again").isEqualTo(plan);
            }
            case "first-slice-is-the-same" ->
                assertThat(plan.get(0).index()).isEqualTo(before.get(0).index());
            case "unchanged" ->
                assertNumber(plan.stream().filter(before::contains).count(), words, text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("slice-plans.txt")
    void devicesAreInTheOrderOfTheInventory(String scenario) throws Exception {
        play(scenario);
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

    @Nested
    class ABadPool {

        @Test
        void withTwoDevicesOfOneNameIsRefused() {
            List<Device> twice = List.of(gpus(0, 1).get(0), gpus(0, 1).get(0));

            assertThatThrownBy(() -> SlicePlanner.plan(Pool.ofNode("node-a", twice), List.of(), false))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Pool node-a: the name gpu-0 is used twice");
        }

        @Test
        void withRawFieldsThatAreNoJsonIsRefused() {
            List<Device> bad =
                    List.of(Device.builder("gpu-0").rawField("alpha", "{").build());

            assertThatThrownBy(() -> SlicePlanner.plan(Pool.ofNode("node-a", bad), List.of(), false))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("Pool node-a: Device gpu-0: raw field alpha: Not JSON");
        }

        @Test
        void withARawFieldThatHasAMethodIsRefused() {
            List<Device> bad =
                    List.of(Device.builder("gpu-0").rawField("taints", "[]").build());

            assertThatThrownBy(() -> SlicePlanner.plan(Pool.ofNode("node-a", bad), List.of(), false))
                    .hasMessageContaining("taints");
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
