// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.Meters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class SlicePublisherTest {

    private static final Duration NOW = Duration.ZERO;
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FakeSliceStore store = new FakeSliceStore();
    private ManualLoop loop = new ManualLoop();
    private Inventory inventory = Inventory.of(Pool.ofNode("node-a", gpus(3)));
    private Exception unreadable;
    private int reads;
    private final List<DriverEvent> events = new ArrayList<>();
    private SlicePublisher publisher = publisher();

    private SlicePublisher publisher() {
        return new SlicePublisher(parts(false), loop, loop, loop, new Random(1));
    }

    private SlicePublisher.Parts parts(boolean removesOnClose) {
        return new SlicePublisher.Parts(
                this::read,
                true,
                store,
                new FakePublisherLock(),
                events::add,
                Meters.none(),
                removesOnClose,
                UnaryOperator.identity());
    }

    private Inventory read() throws Exception {
        reads++;
        if (unreadable != null) {
            throw unreadable;
        }
        return inventory;
    }

    private static List<Device> gpus(int count) {
        return IntStream.range(0, count).mapToObj(i -> Device.builder("gpu-" + i).build()).toList();
    }

    private void startAndSettle() throws Exception {
        publisher.start();
        loop.advance(NOW);
        assertThat(publisher.awaitPublished(NOW)).isTrue();
        store.writes.clear();
    }

    private void publish(Inventory changed) {
        inventory = changed;
        publisher.inventoryChanged();
    }

    private List<String> names(String pool) {
        return store.slices.values().stream()
                .filter(slice -> slice.content().pool().equals(new PoolName(pool)))
                .flatMap(slice -> slice.content().devices().stream())
                .map(device -> device.name().value())
                .toList();
    }

    @Nested
    class Publishing {

        @Test
        void beginsWithStartAndNotBefore() throws Exception {
            loop.advance(SECOND);
            assertThat(store.slices).isEmpty();
            assertThat(publisher.awaitPublished(NOW)).isFalse();

            startAndSettle();

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
            assertThat(publisher.lastInventory()).contains(inventory);
        }

        @Test
        void aChangeOfTheInventoryIsWrittenAtOnce() throws Exception {
            startAndSettle();

            publish(Inventory.of(Pool.ofNode("node-a", gpus(4))));
            assertThat(publisher.awaitPublished(NOW)).isFalse();
            loop.advance(NOW);

            assertThat(store.writes).containsExactly("update node-a");
            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }

        @Test
        void nothingIsWrittenWhenNothingChanged() throws Exception {
            startAndSettle();

            publisher.inventoryChanged();
            loop.advance(SECOND);

            assertThat(reads).isEqualTo(2);
            assertThat(store.writes).isEmpty();
        }

        @Test
        void aRestartAdoptsWhatIsThereAndWritesNothing() throws Exception {
            startAndSettle();
            publisher.close();

            loop = new ManualLoop();
            publisher = publisher();
            startAndSettle();

            assertThat(store.writes).isEmpty();
            assertThat(store.slices).hasSize(1);
        }

        @Test
        void aPoolThatIsGoneIsWithdrawnAndAnEmptyOneStays() throws Exception {
            publish(Inventory.of(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1))));
            startAndSettle();

            publish(Inventory.of(Pool.ofNode("node-b", List.of())));
            loop.advance(NOW);

            assertThat(store.writes).containsExactlyInAnyOrder("delete node-a", "update node-b");
            assertThat(store.slices.values())
                    .singleElement()
                    .satisfies(slice -> assertThat(slice.content().devices()).isEmpty());
        }

        @Test
        void aPoolPublishedElsewhereIsLeftAlone() throws Exception {
            store.create(0, content("fabric"));
            store.writes.clear();
            publish(Inventory.of(Pool.publishedElsewhere("fabric")));
            startAndSettle();

            assertThat(store.slices).hasSize(1);
            assertThat(store.writes).isEmpty();
        }

        @Test
        void slicesForManyNodesAreWatchedAndWithdrawn() throws Exception {
            publish(
                    Inventory.of(
                            new Pool(
                                    new PoolName("shared"),
                                    new Placement.AllNodes(),
                                    gpus(1),
                                    List.of())));
            startAndSettle();
            assertThat(store.watchCount()).isEqualTo(2);
            store.remove(store.slices.keySet().iterator().next());
            loop.advance(SECOND);
            assertThat(names("shared")).containsExactly("gpu-0");

            publish(Inventory.of());
            loop.advance(NOW);

            assertThat(store.slices).isEmpty();
        }

        @Test
        void whatTheServerLeavesOutIsNotWrittenAgainAndAgain() throws Exception {
            store.keeps = content -> content.withDevices(withoutTaints(content));
            Device tainted =
                    Device.builder("gpu-0")
                            .taint(Taint.of("example.com/bad", null, Taint.Effect.NONE))
                            .build();
            publish(Inventory.of(Pool.ofNode("node-a", List.of(tainted))));
            startAndSettle();

            loop.advance(Duration.ofMinutes(5));
            publisher.inventoryChanged();
            loop.advance(Duration.ofMinutes(5));

            assertThat(store.writes).isEmpty();
        }
    }

    @Nested
    class Repair {

        @Test
        void aDeletedSliceIsBackWithinASecond() throws Exception {
            startAndSettle();

            store.remove(store.slices.keySet().iterator().next());
            loop.advance(NOW);
            assertThat(publisher.awaitPublished(NOW)).isFalse();
            loop.advance(SECOND);

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }

        @Test
        void aSliceThatAnotherClientAlteredIsRepaired() throws Exception {
            startAndSettle();

            store.change(
                    store.slices.keySet().iterator().next(),
                    content -> content.withDevices(gpus(1)));
            loop.advance(SECOND);

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
        }

        @Test
        void aVersionThatSaysTheSameCausesNoWrite() throws Exception {
            startAndSettle();

            store.change(store.slices.keySet().iterator().next(), content -> content);
            loop.advance(SECOND);

            assertThat(store.writes).isEmpty();
            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }

        @Test
        void anAdversaryIsMetLessAndLessOften() throws Exception {
            startAndSettle();
            store.afterWrite =
                    () ->
                            loop.execute(
                                    () ->
                                            List.copyOf(store.slices.keySet())
                                                    .forEach(store::remove));

            store.remove(store.slices.keySet().iterator().next());
            loop.advance(Duration.ofMinutes(1));
            int firstMinute = store.writes.size();
            loop.advance(Duration.ofMinutes(10));

            assertThat(firstMinute).isBetween(4, 15);
            assertThat(store.writes.size() - firstMinute).isBetween(20, 45);
        }

        @Test
        void aWatchThatEndedIsTakenUpAgain() throws Exception {
            startAndSettle();
            int lists = store.lists;

            store.endWatches();
            loop.advance(SECOND);
            assertThat(store.lists).isGreaterThan(lists);
            store.remove(store.slices.keySet().iterator().next());
            loop.advance(Duration.ofSeconds(2));

            assertThat(names("node-a")).hasSize(3);
            assertThat(store.watchCount()).isEqualTo(1);
        }
    }

    @Nested
    class Failure {

        @Test
        void anInventoryThatCannotBeReadKeepsTheLastGoodSlices() throws Exception {
            startAndSettle();

            unreadable = new IllegalStateException("no answer from the device");
            publisher.inventoryChanged();
            loop.advance(SECOND);
            assertThat(names("node-a")).hasSize(3);
            assertThat(publisher.lastInventory()).contains(inventory);
            assertThat(publisher.awaitPublished(NOW)).isFalse();
            unreadable = null;
            publish(Inventory.of(Pool.ofNode("node-a", gpus(2))));
            loop.advance(NOW);

            assertThat(names("node-a")).hasSize(2);
        }

        @Test
        void aRepairWorksWhileTheInventoryCannotBeRead() throws Exception {
            startAndSettle();
            unreadable = new UnsupportedOperationException();
            publisher.inventoryChanged();
            loop.advance(SECOND);

            store.remove(store.slices.keySet().iterator().next());
            loop.advance(Duration.ofSeconds(31));

            assertThat(names("node-a")).hasSize(3);
        }

        @Test
        void onePoolDoesNotStopAnother() throws Exception {
            store.failure = Failures.status(422);
            store.failingPool = "node-a";
            publish(Inventory.of(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1))));
            publisher.start();
            loop.advance(NOW);
            assertThat(names("node-b")).containsExactly("gpu-0");
            assertThat(publisher.awaitPublished(NOW)).isFalse();

            store.failure = null;
            loop.advance(Duration.ofSeconds(31));

            assertThat(names("node-a")).containsExactly("gpu-0");
            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }

        @Test
        void aPoolThatCannotBeWrittenKeepsItsSlicesAndStopsNoOther() throws Exception {
            startAndSettle();

            List<Device> bad = List.of(Device.builder("gpu-0").rawField("x", "{").build());
            publish(Inventory.of(Pool.ofNode("node-a", bad), Pool.ofNode("node-b", gpus(1))));
            loop.advance(NOW);

            assertThat(names("node-a")).hasSize(3);
            assertThat(names("node-b")).hasSize(1);
        }

        @Test
        void anOutageIsWaitedForWithGrowingPauses() throws Exception {
            store.listFailure = Failures.status(503);
            publisher.start();
            loop.advance(Duration.ofMinutes(10));
            assertThat(store.lists).isBetween(20, 60);
            for (int i = 0; i < 100; i++) {
                publisher.inventoryChanged();
            }
            int lists = store.lists;
            loop.advance(NOW);
            assertThat(store.lists).isEqualTo(lists);

            store.listFailure = null;
            loop.advance(Duration.ofSeconds(31));

            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }

        @Test
        void aConflictMakesItListAgain() throws Exception {
            startAndSettle();
            int lists = store.lists;
            store.failure = Failures.status(409);
            store.failingPool = "node-a";
            publish(Inventory.of(Pool.ofNode("node-a", gpus(2))));
            loop.advance(NOW);

            store.failure = null;
            loop.advance(SECOND);

            assertThat(store.lists).isGreaterThan(lists);
            assertThat(names("node-a")).hasSize(2);
        }

        @Test
        void anUnexpectedErrorIsTriedAgain() throws Exception {
            store.listFailure = new DraException("a bug");
            publisher.start();
            loop.advance(SECOND);
            store.listFailure = null;
            loop.advance(Duration.ofSeconds(31));

            assertThat(publisher.awaitPublished(NOW)).isTrue();
        }
    }

    @Nested
    class Closing {

        @Test
        void leavesTheSlicesAndEndsTheWatches() throws Exception {
            startAndSettle();

            publisher.close();

            assertThat(store.slices).hasSize(1);
            assertThat(store.watchCount()).isZero();
            assertThat(loop.waiting()).isZero();
        }

        @Test
        void aPublisherWithItsOwnThreadReadsBeforeItPublishes() throws Exception {
            try (SlicePublisher own = new SlicePublisher(parts(false))) {
                assertThat(own.readInventory()).contains(inventory);
                assertThat(store.slices).isEmpty();
                own.start();
                assertThat(own.awaitPublished(Duration.ofSeconds(10))).isTrue();
            }
            assertThat(store.slices).hasSize(1);
        }
    }

    private static Content content(String pool) {
        return new Content(new PoolName(pool), 1, 1, new Placement.ThisNode(), gpus(1), List.of());
    }

    private static List<Device> withoutTaints(Content content) {
        return content.devices().stream()
                .map(device -> Device.builder(device.name().value()).build())
                .toList();
    }

    static Stored stored(String name, long version, Content content) {
        return new Stored(name, "uid-" + name, Long.toString(version), true, content);
    }
}
