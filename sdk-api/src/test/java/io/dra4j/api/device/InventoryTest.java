// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import static io.dra4j.api.container.ContainerEdits.NONE;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InventoryTest {

    private static final Device GPU = Device.builder("gpu-0")
            .attribute("model", "A")
            .attribute("cores", 64)
            .attribute("ecc", true)
            .version("driver", "550.163.1")
            .capacity("memory", "80Gi")
            .consumes(CounterConsumption.of("set", Map.of("memory", Quantity.of(1))))
            .taint(Taint.of("example.com/hot", null, Taint.Effect.NO_SCHEDULE))
            .placement(new Placement.NamedNode("node-a"))
            .binding(new BindingConditions(List.of("Ready"), List.of("Failed")))
            .bindsToNode(true)
            .allowMultipleAllocations(true)
            .rawField("alpha", "{}")
            .build();

    @Test
    void findsDevicesByPoolAndName() {
        Inventory inventory = Inventory.of(Pool.ofNode("node-a", List.of(GPU)));

        assertThat(inventory.device(new PoolName("node-a"), GPU.name())).contains(GPU);
        assertThat(inventory.device(new PoolName("node-a"), new DeviceName("gpu-1")))
                .isEmpty();
        assertThat(inventory.device(new PoolName("node-b"), GPU.name())).isEmpty();
        assertThat(inventory.pool(new PoolName("node-b"))).isEmpty();
    }

    @Test
    void ofTwoDevicesWithOneNameTheFirstIsFound() {
        Device first = Device.builder("gpu-0").attribute("model", "B").build();
        Inventory inventory = Inventory.of(Pool.ofNode("node-a", List.of(first, GPU)));

        assertThat(inventory.device(new PoolName("node-a"), GPU.name())).contains(first);
    }

    @Test
    void refusesTwoPoolsOfOneName() {
        Pool pool = Pool.ofNode("node-a", List.of());

        assertThatThrownBy(() -> Inventory.of(pool, pool))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("node-a");
    }

    @Test
    void aNullIsNamedWithItsPlace() {
        Device.Builder device = Device.builder("a");
        Pool pool = Pool.ofNode("node-a", List.of());

        assertNull("device: devices[1] of pool node-a", () -> Pool.ofNode("node-a", asList(GPU, null)));
        assertNull("pools: pools[1]", () -> Inventory.of(pool, null));
        assertNull("value: attribute model of device a", () -> device.attribute("model", (String) null));
        assertNull("quantity: capacity m of device a", () -> device.capacity("m", (String) null));
        assertNull("value: variable A", () -> NONE.toBuilder().env("A", null));
    }

    private static void assertNull(String place, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(place + " is null");
    }

    @Test
    void aMalformedQuantityIsNamedWithItsPlace() {
        assertMalformed("capacity m of device a", () -> Device.builder("a").capacity("m", "80GB"));
        assertMalformed("counter m of set s", () -> CounterSet.builder("s").counter("m", "80GB"));
        assertMalformed(
                "counter m of set s", () -> CounterConsumption.builder("s").counter("m", "80GB"));
    }

    private static void assertMalformed(String place, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(place + ": Not a quantity: \"80GB\"");
    }

    @Test
    void leavesNothingOutUnlessTheDriverSaysSo() {
        Inventory all = Inventory.of(Pool.ofNode("node-a", List.of(GPU)));
        LeftOut broken = new LeftOut("GPU-5b3f", "Its memory is broken; replace it");

        assertThat(all.leftOut()).isEmpty();
        assertThat(all.withLeftOut(List.of(broken)).leftOut()).containsExactly(broken);
        assertThat(all.withLeftOut(List.of(broken)).pools()).isEqualTo(all.pools());
        assertThat(all.withLeftOut(List.of(broken)).withLeftOut(List.of())).isEqualTo(all);
    }

    @ParameterizedTest
    @CsvSource({"'',broken", "GPU-5b3f,' '"})
    void whatIsLeftOutNeedsANameAndAReason(String device, String reason) {
        assertThatThrownBy(() -> new LeftOut(device, reason))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll('"' + device + '"', '"' + reason + '"');
    }

    @Test
    void aDeviceIsRebuiltWithAllThatItHas() {
        assertThat(GPU.toBuilder().build()).isEqualTo(GPU);
        assertThat(GPU.toBuilder().physicalId("other").build().attributes()).isSameAs(GPU.attributes());
        assertThat(GPU.toBuilder().attribute("cores", 32).build().attributes())
                .containsEntry("cores", AttributeValue.of(32))
                .containsEntry("model", AttributeValue.of("A"));
    }

    @Test
    void attributesKeepTheOrderInWhichTheyWereSet() {
        assertThat(GPU.attributes().keySet()).containsExactly("model", "cores", "ecc", "driver");
    }

    @Test
    void counterSetsAreSetOnACopy() {
        Pool pool = Pool.ofNode("node-a", List.of(GPU));
        CounterSet set = CounterSet.of("set", Map.of("memory", Quantity.of(8)));

        assertThat(pool.withCounterSets(List.of(set)).counterSets()).containsExactly(set);
        assertThat(pool.counterSets()).isEmpty();
    }

    @Test
    void aPoolOfAnotherComponentHasNoDevices() {
        Pool pool = Pool.publishedElsewhere("fabric/nics");

        assertThat(pool.placement()).isEqualTo(new Placement.PublishedElsewhere());
        assertThat(pool.devices()).isEmpty();
    }
}
