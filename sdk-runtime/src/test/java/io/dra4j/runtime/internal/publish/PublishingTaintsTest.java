// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Taints that come from elsewhere than the provider's inventory. */
class PublishingTaintsTest extends PublisherUnderTest {

    private static final Taint TAINT = Taint.of("k/unhealthy", null, Taint.Effect.NO_SCHEDULE);

    private boolean tainting;

    @BeforeEach
    void startTainting() {
        taints = inventory -> tainting ? tainted(inventory) : inventory;
        storedTaints = this::retainted;
        start();
    }

    private Device retainted(Device stored) {
        Device.Builder device = stored.toBuilder()
                .taints(stored.taints().stream()
                        .filter(taint -> !taint.key().equals(TAINT.key()))
                        .toList());
        return tainting ? device.taint(TAINT).build() : device.build();
    }

    private static Inventory tainted(Inventory inventory) {
        List<Device> devices = inventory.pools().get(0).devices().stream()
                .map(device -> device.toBuilder().taint(TAINT).build())
                .toList();
        return Inventory.of(Pool.ofNode("node-a", devices));
    }

    private void taint(boolean now) {
        tainting = now;
        publisher.taintsChanged();
        loop.advance(Duration.ZERO);
    }

    private void assertTaints(String pool, int devices, int each) {
        assertThat(devices(pool))
                .hasSize(devices)
                .allMatch(device -> device.taints().size() == each);
    }

    @Test
    void areWrittenToTheLastInventoryWhileTheNextIsRead() {
        publisher.close();
        loop = new ManualLoop();
        ManualLoop hardware = new ManualLoop();
        publisher = new SlicePublisher(parts(this::read), loop, hardware, loop, new Random(1));
        publisher.start();
        loop.advance(NOW);
        hardware.advance(NOW);
        loop.advance(NOW);
        publisher.inventoryChanged();
        loop.advance(NOW);
        assertThat(hardware.waiting()).as("reads").isOne();

        taint(true);

        assertTaints("node-a", 3, 1);
    }

    /** Another process goes on, whose hardware can't be read from the start. */
    private void restartUnreadable() {
        unreadable = new LinkageError("the hardware fails");
        restart();
    }

    /** Replaces a slice, as if it had always been so. */
    private Stored replace(UnaryOperator<Content> change, boolean owned, boolean decoded) {
        Stored own = store.slices.remove(anySlice());
        Stored other =
                new Stored("other", own.uid(), own.resourceVersion(), owned, change.apply(own.content()), decoded);
        store.slices.put("other", other);
        return other;
    }

    @Test
    void areNotWrittenToSlicesOfAnotherPublisherWhileNoInventoryCouldBeRead() {
        Stored other = replace(UnaryOperator.identity(), false, true);
        restartUnreadable();

        taint(true);

        assertThat(store.slices).containsOnly(Map.entry("other", other));
        assertThat(publisher.areTaintsPublished()).isTrue();
    }

    @Test
    void areNotPublishedWhileASliceCannotBeDecoded() {
        Stored other = replace(content -> content.withDevices(List.of()), true, false);
        restartUnreadable();

        taint(true);
        loop.advance(SOON);

        assertThat(store.slices).containsOnly(Map.entry("other", other));
        assertThat(publisher.areTaintsPublished()).isFalse();
        assertThat(events)
                .extracting(DriverEvent::message)
                .anyMatch(text -> text.contains("kubectl delete resourceslices other"));
    }

    @Test
    void areWrittenInPlaceWhileNoInventoryCouldBeRead() {
        publish(withCounters(), Pool.ofNode("node-b", gpus(100)));
        replace(content -> content.at(7, 3), true, true); // a change of the pool that broke off
        Map<String, Stored> before = Map.copyOf(store.slices);
        restartUnreadable();

        taint(true);
        assertTaints("node-a", 1, 1);
        assertTaints("node-b", 100, 1);
        taint(false);

        assertThat(store.writes).hasSize(6).allMatch(write -> write.startsWith("update"));
        assertThat(contents(store.slices)).isEqualTo(contents(before));
    }

    private static Pool withCounters() {
        CounterSet memory = CounterSet.builder("memory").counter("gib", 8).build();
        return Pool.builder("node-a")
                .partitionTypeAttribute("gpu.example.com/type")
                .counterSets(List.of(memory))
                .devices(gpus(1))
                .build();
    }

    private static Map<String, Content> contents(Map<String, Stored> slices) {
        return slices.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> each.getValue().content()));
    }
}
