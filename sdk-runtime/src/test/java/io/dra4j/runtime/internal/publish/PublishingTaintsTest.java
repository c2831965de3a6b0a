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
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
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
    void areWrittenAndTakenBackWhenTheyChange() throws Exception {
        taint(true);
        assertTaints("node-a", 3, 1);
        assertThat(store.writes).containsExactly("update node-a");
        assertThat(isPublished()).isTrue();

        taint(false);
        assertTaints("node-a", 3, 0);
    }

    @Test
    void areWrittenToTheLastGoodInventoryWhileItCannotBeRead() throws Exception {
        unreadable = new LinkageError("the hardware fails");
        publisher.inventoryChanged();
        loop.advance(Duration.ZERO);
        store.failing("node-a", Failures.status(500));

        taint(true);
        assertThat(publisher.areTaintsPublished()).isFalse();
        store.failing("node-a", null);
        loop.advance(SOON);

        assertTaints("node-a", 3, 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
        assertThat(isPublished()).as("what the hardware has now").isFalse();
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

    @Test
    void areNoWriteWhenTheyAreTheSame() {
        taint(true);
        store.writes.clear();

        taint(true);
        publisher.inventoryChanged();
        loop.advance(Duration.ofSeconds(1));

        assertThat(store.writes).isEmpty();
        assertThat(publisher.lastInventory()).as("what the provider offers").contains(inventory);
    }

    /** Another process goes on, whose hardware can't be read from the start. */
    private void restartUnreadable() {
        unreadable = new LinkageError("the hardware fails");
        restart();
    }

    @Test
    void areWrittenToWhatTheClusterHasWhileNoInventoryCouldBeRead() throws Exception {
        Map<String, Stored> before = Map.copyOf(store.slices);
        restartUnreadable();
        assertThat(store.slices).isEqualTo(before);
        assertThat(publisher.areTaintsPublished()).isTrue();
        store.failing("node-a", Failures.status(500));

        taint(true);
        assertThat(publisher.areTaintsPublished()).isFalse();
        store.failing("node-a", null);
        loop.advance(SOON);

        assertTaints("node-a", 3, 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
        assertThat(publisher.lastInventory()).isEmpty();
        assertThat(isPublished()).as("what the hardware has now").isFalse();

        taint(false);
        assertTaints("node-a", 3, 0);
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
    void thatTheServerRefusesAreReportedBesideTheInventory() {
        restartUnreadable();
        store.failing("node-a", Failures.status(500));

        taint(true);

        assertThat(publisher.missing())
                .containsExactly(
                        "inventory: not read yet: java.lang.LinkageError: the hardware fails",
                        "pool node-a: the API server rejected it; see the log");
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

    @Test
    void comeBackWithNoSliceThatWasDeletedMeanwhile() {
        restartUnreadable();
        removeAnySlice();
        loop.advance(SOON);

        taint(true);
        assertThat(store.slices).isEmpty();
        taint(false);

        assertThat(store.slices).isEmpty();
        assertThat(publisher.areTaintsPublished()).isTrue();
    }

    @Test
    void areRepairedWhileNoInventoryCouldBeRead() {
        restartUnreadable();
        taint(true);
        assertThat(publisher.storedDevices()).isEqualTo(devices("node-a"));

        store.change(anySlice(), content -> content.withDevices(gpus(2)));
        loop.advance(SOON);

        assertTaints("node-a", 2, 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
    }

    @Test
    void thatTheServerDoesNotKeepWithdrawDevicesWhileNoInventoryCouldBeRead() {
        restartUnreadable();
        store.keeps = content -> content.withDevices(content.devices().stream()
                .map(device -> device.toBuilder().taints(List.of()).build())
                .toList());

        taint(true);

        assertThat(store.slices).hasSize(1);
        assertThat(devices("node-a")).isEmpty();
        assertThat(publisher.areTaintsPublished()).isTrue();
        taint(false);
        unreadable = null;
        loop.advance(SOON);
        assertThat(devices("node-a")).hasSize(3);
    }

    @Test
    void aPoolThatIsGoneOnceTheInventoryIsReadIsRemoved() {
        restartUnreadable();
        taint(true);
        inventory = Inventory.of(Pool.ofNode("node-b", gpus(2)));

        unreadable = null;
        taints = UnaryOperator.identity();
        loop.advance(SOON);

        assertThat(devices("node-a")).isEmpty();
        assertThat(devices("node-b")).hasSize(2);
    }

    @Test
    void areThoseOfTheInventoryOnceItIsRead() throws Exception {
        restartUnreadable();
        taint(true);
        inventory = Inventory.of(Pool.ofNode("node-a", gpus(2)));

        unreadable = null;
        loop.advance(SOON);

        assertTaints("node-a", 2, 1);
        assertThat(isPublished()).isTrue();
    }

    @Test
    void areNotWrittenWhileTheClusterCannotBeRead() {
        store.listFailure = Failures.status(503);
        restartUnreadable();
        taint(true);
        assertThat(publisher.areTaintsPublished()).isFalse();
        assertThat(reasons()).contains(Reason.CLUSTER_UNREACHABLE);

        store.listFailure = null;
        loop.advance(SOON);

        assertTaints("node-a", 3, 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
        assertThat(reasons()).contains(Reason.PUBLISHING_RECOVERED);
    }

    @Test
    void leaveTheSlicesOfAnotherProcessAlone() {
        lock.othersHaveIt = true;
        restartUnreadable();

        taint(true);

        assertTaints("node-a", 3, 0);
        assertThat(publisher.areTaintsPublished()).isFalse();
    }
}
