// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** A publisher on a loop whose time the test moves, before a cluster in memory. */
abstract class PublisherUnderTest {

    static final Duration NOW = Duration.ZERO;
    static final Duration SECOND = Duration.ofSeconds(1);
    static final Duration MINUTE = Duration.ofMinutes(1);

    /** The longest wait between two tries. */
    static final Duration SOON = Duration.ofSeconds(31);

    final FakeSliceStore store = new FakeSliceStore();
    final FakePublisherLock lock = new FakePublisherLock();
    final List<DriverEvent> events = new ArrayList<>();
    final List<Content> everStored = new ArrayList<>();
    ManualLoop loop = new ManualLoop();
    UnaryOperator<Inventory> taints = UnaryOperator.identity();
    UnaryOperator<Device> storedTaints = UnaryOperator.identity();
    final Map<ClaimRef, ClaimObject> claims = new HashMap<>();
    PinnedNames names = names(Path.of("no-such-directory"));
    Inventory inventory = Inventory.of(Pool.ofNode("node-a", gpus(3)));
    boolean removesOnClose;
    boolean answersNull;
    Throwable unreadable;
    int reads;
    SlicePublisher publisher = make();

    private SlicePublisher make() {
        return new SlicePublisher(parts(this::read), loop, loop, loop, new Random(1));
    }

    SlicePublisher.Parts parts(Callable<Inventory> source) {
        return new SlicePublisher.Parts(
                source,
                true,
                store,
                lock,
                events::add,
                Meters.none(),
                () -> removesOnClose,
                inventory -> taints.apply(inventory),
                stored -> storedTaints.apply(stored),
                names);
    }

    /** The names of a node with a data directory; its cluster has the claims of the test. */
    PinnedNames names(Path data) {
        return new PinnedNames(
                "gpu.example.com", DevicePins.in(data), ClaimDecoding.listing(() -> claims), events::add);
    }

    Inventory read() {
        reads++;
        if (unreadable instanceof Error error) {
            throw error;
        }
        if (unreadable != null) {
            throw (RuntimeException) unreadable;
        }
        return answersNull ? null : inventory;
    }

    static List<Device> gpus(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> Device.builder("gpu-" + i).build())
                .toList();
    }

    static Device tainted(String name, Taint.Effect effect) {
        return Device.builder(name)
                .taint(Taint.of("example.com/bad", null, effect))
                .build();
    }

    static Pool invalid() {
        return Pool.ofNode(
                "node-a", List.of(Device.builder("gpu-0").rawField("x", "{").build()));
    }

    static Content content(String pool) {
        return new Content(new PoolName(pool), 1, 1, new Placement.ThisNode(), gpus(1), List.of());
    }

    void start() {
        publisher = make();
        publisher.start();
        loop.advance(NOW);
        store.writes.clear();
    }

    void start(Pool... pools) {
        inventory = Inventory.of(pools);
        start();
    }

    /** Another process of the driver goes on. */
    void restart() {
        publisher.close();
        loop = new ManualLoop();
        start();
    }

    void publish(Pool... pools) {
        inventory = Inventory.of(pools);
        publisher.inventoryChanged();
        loop.advance(NOW);
    }

    boolean isPublished() throws InterruptedException {
        return publisher.awaitPublished(NOW);
    }

    /** Another client deletes a slice. */
    void removeAnySlice() {
        store.remove(anySlice());
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

    /** Notes the content of all slices after each write. */
    void rememberWhatWasEverVisible() {
        store.afterWrite = () -> store.slices.values().forEach(s -> everStored.add(s.content()));
    }

    /** The right to write slices, which another process has as long as the test wants. */
    static final class FakePublisherLock implements Supplier<Optional<Turn>> {

        boolean othersHaveIt;
        int requested;
        int takenAndNotGivenBack;

        @Override
        public Optional<Turn> get() {
            requested++;
            if (othersHaveIt) {
                return Optional.empty();
            }
            takenAndNotGivenBack++;
            return Optional.of(new Turn(() -> othersHaveIt, () -> takenAndNotGivenBack--));
        }
    }
}
