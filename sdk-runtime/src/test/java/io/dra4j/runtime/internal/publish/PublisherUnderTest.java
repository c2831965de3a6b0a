// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** A publisher on a loop whose time the test moves, before a cluster in memory. */
final class PublisherUnderTest {

    final FakeSliceStore store = new FakeSliceStore();
    final FakePublisherLock lock = new FakePublisherLock();
    final List<DriverEvent> events = new ArrayList<>();
    ManualLoop loop = new ManualLoop();
    UnaryOperator<Inventory> taints = UnaryOperator.identity();
    Inventory inventory = Inventory.of(Pool.ofNode("node-a", gpus(3)));
    boolean removesOnClose;
    boolean answersNull;
    Error unreadable;
    SlicePublisher publisher = make();

    SlicePublisher make() {
        SlicePublisher.Parts parts =
                new SlicePublisher.Parts(
                        this::read,
                        true,
                        store,
                        lock,
                        events::add,
                        Meters.none(),
                        removesOnClose,
                        inventory -> taints.apply(inventory));
        return new SlicePublisher(parts, loop, loop, loop, new Random(1));
    }

    private Inventory read() {
        if (unreadable != null) {
            throw unreadable;
        }
        return answersNull ? null : inventory;
    }

    static List<Device> gpus(int count) {
        return IntStream.range(0, count).mapToObj(i -> Device.builder("gpu-" + i).build()).toList();
    }

    void start() {
        publisher = make();
        publisher.start();
        loop.advance(Duration.ZERO);
        store.writes.clear();
    }

    void publish(Pool... pools) {
        inventory = Inventory.of(pools);
        publisher.inventoryChanged();
        loop.advance(Duration.ZERO);
    }

    boolean isPublished() throws InterruptedException {
        return publisher.awaitPublished(Duration.ZERO);
    }

    String anySlice() {
        return store.slices.keySet().iterator().next();
    }

    List<Device> devices(String pool) {
        return store.slices.values().stream()
                .filter(slice -> slice.content().pool().equals(new PoolName(pool)))
                .flatMap(slice -> slice.content().devices().stream())
                .toList();
    }

    List<String> names(String pool) {
        return devices(pool).stream().map(device -> device.name().value()).toList();
    }

    List<Reason> reasons() {
        return events.stream().map(DriverEvent::reason).distinct().toList();
    }
}
