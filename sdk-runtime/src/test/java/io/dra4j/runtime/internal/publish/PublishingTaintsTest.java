// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Taints that come from elsewhere than the provider's inventory. */
class PublishingTaintsTest extends PublisherUnderTest {

    private static final Taint TAINT = Taint.of("k/unhealthy", null, Taint.Effect.NO_SCHEDULE);

    private boolean tainting;

    @BeforeEach
    void startTainting() {
        taints = inventory -> tainting ? tainted(inventory) : inventory;
        start();
    }

    private static Inventory tainted(Inventory inventory) {
        List<Device> devices =
                inventory.pools().get(0).devices().stream()
                        .map(device -> device.toBuilder().taint(TAINT).build())
                        .toList();
        return Inventory.of(Pool.ofNode("node-a", devices));
    }

    private void taint(boolean now) {
        tainting = now;
        publisher.taintsChanged();
        loop.advance(Duration.ZERO);
    }

    @Test
    void areWrittenAndTakenBackWhenTheyChange() throws Exception {
        taint(true);
        assertThat(devices("node-a")).allMatch(device -> device.taints().size() == 1);
        assertThat(store.writes).containsExactly("update node-a");
        assertThat(isPublished()).isTrue();

        taint(false);
        assertThat(devices("node-a")).allMatch(device -> device.taints().isEmpty());
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

        assertThat(devices("node-a")).allMatch(device -> device.taints().size() == 1);
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

        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().size() == 1);
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
        storedTaints = taints;
        Map<String, Stored> before = Map.copyOf(store.slices);
        restartUnreadable();
        assertThat(store.slices).isEqualTo(before);
        assertThat(publisher.areTaintsPublished()).isTrue();
        store.failing("node-a", Failures.status(500));

        taint(true);
        assertThat(publisher.areTaintsPublished()).isFalse();
        store.failing("node-a", null);
        loop.advance(SOON);

        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().size() == 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
        assertThat(publisher.lastInventory()).isEmpty();
        assertThat(isPublished()).as("what the hardware has now").isFalse();

        taint(false);
        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().isEmpty());
    }

    @Test
    void noTaintLeavesSlicesAsTheyAreWhileNoInventoryCouldBeRead() {
        storedTaints = taints;
        Stored own = store.slices.remove(anySlice());
        Stored before = new Stored("other", own.uid(), own.resourceVersion(), false, own.content());
        store.slices.put("other", before);

        restartUnreadable();
        assertThat(store.slices).containsOnly(Map.entry("other", before));
        assertThat(publisher.areTaintsPublished()).isTrue();

        taint(true);
        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().size() == 1);
        taint(false);
        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().isEmpty());
    }

    @Test
    void areThoseOfTheInventoryOnceItIsRead() throws Exception {
        storedTaints = taints;
        restartUnreadable();
        taint(true);
        inventory = Inventory.of(Pool.ofNode("node-a", gpus(2)));

        unreadable = null;
        loop.advance(SOON);

        assertThat(devices("node-a")).hasSize(2).allMatch(device -> device.taints().size() == 1);
        assertThat(isPublished()).isTrue();
    }

    @Test
    void areNotWrittenWhileTheClusterCannotBeRead() {
        storedTaints = taints;
        store.listFailure = Failures.status(503);
        restartUnreadable();
        taint(true);
        assertThat(publisher.areTaintsPublished()).isFalse();
        assertThat(reasons()).contains(Reason.CLUSTER_UNREACHABLE);

        store.listFailure = null;
        loop.advance(SOON);

        assertThat(devices("node-a")).hasSize(3).allMatch(device -> device.taints().size() == 1);
        assertThat(publisher.areTaintsPublished()).isTrue();
    }

    @Test
    void leaveTheSlicesOfAnotherProcessAlone() {
        storedTaints = taints;
        lock.othersHaveIt = true;
        restartUnreadable();

        taint(true);

        assertThat(devices("node-a")).allMatch(device -> device.taints().isEmpty());
        assertThat(publisher.areTaintsPublished()).isFalse();
    }
}
