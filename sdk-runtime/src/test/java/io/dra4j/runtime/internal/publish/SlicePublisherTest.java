// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlicePublisherTest extends PublisherUnderTest {

    @Nested
    class Publishing {

        @Test
        void beginsWithStartAndNotBefore() throws Exception {
            loop.advance(SECOND);
            assertThat(store.slices).isEmpty();
            assertThat(isPublished()).isFalse();

            start();

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
            assertThat(publisher.lastInventory()).contains(inventory);
            assertThat(isPublished()).isTrue();
        }

        @Test
        void aPoolThatIsGoneIsWithdrawnAndAnEmptyOneStays() {
            start(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1)));

            publish(Pool.ofNode("node-b", List.of()));

            assertThat(store.writes).containsExactlyInAnyOrder("delete node-a", "update node-b");
            assertThat(store.slices.values())
                    .singleElement()
                    .satisfies(slice -> assertThat(slice.content().devices()).isEmpty());
        }

        @Test
        void aPoolPublishedElsewhereIsLeftAloneAndKeepsTheLoopIdle() {
            store.create(0, content("fabric"));
            start(Pool.publishedElsewhere("fabric"));
            store.create(1, content("fabric"));
            store.writes.clear();

            loop.advance(MINUTE);

            assertThat(loop.ran()).isLessThan(20);
            assertThat(store.slices).hasSize(2);
            assertThat(store.writes).isEmpty();
        }

        @Test
        void aPoolThatMovedToAControllerLeavesNoSliceOfThisNode() throws Exception {
            start(Pool.builder("rack-7")
                    .placement(new Placement.AllNodes())
                    .devices(gpus(1))
                    .build());
            store.failing("rack-7", Failures.status(500));
            inventory = Inventory.of(Pool.publishedElsewhere("rack-7"));
            restart();
            assertThat(store.slices).hasSize(1);
            store.failing("", null);

            loop.advance(SOON);

            assertThat(store.slices).isEmpty();
            assertThat(isPublished()).isTrue();
        }

        @Test
        void slicesForManyNodesAreWatchedAndWithdrawn() {
            start(Pool.builder("shared")
                    .placement(new Placement.AllNodes())
                    .devices(gpus(1))
                    .build());
            assertThat(store.watchCount()).isEqualTo(2);
            removeAnySlice();
            loop.advance(SECOND);
            assertThat(names("shared")).containsExactly("gpu-0");

            publish();

            assertThat(store.slices).isEmpty();
        }
    }

    @Nested
    class Repair {

        @Test
        void aDeletedSliceIsBackWithinASecond() throws Exception {
            start();

            removeAnySlice();
            loop.advance(NOW);
            assertThat(isPublished()).isFalse();
            loop.advance(SECOND);

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
            assertThat(isPublished()).isTrue();
        }

        @Test
        void aSliceThatAnotherClientAlteredIsRepaired() {
            start();

            store.change(anySlice(), content -> content.withDevices(gpus(1)));
            loop.advance(SECOND);

            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
        }

        @Test
        void aVersionThatSaysTheSameCausesNoWrite() throws Exception {
            start();

            store.change(anySlice(), content -> content);
            loop.advance(SECOND);

            assertThat(store.writes).isEmpty();
            assertThat(isPublished()).isTrue();
        }
    }

    @Nested
    class Failure {

        @Test
        void anUnreadableInventoryKeepsTheLastGoodSlicesAndIsReadAgain() throws Exception {
            start();
            Inventory good = inventory;
            unreadable = new UnsupportedOperationException(); // without a message
            publish(Pool.ofNode("node-a", gpus(5)));
            assertThat(names("node-a")).hasSize(3);
            assertThat(publisher.lastInventory()).contains(good);
            assertThat(isPublished()).isFalse();
            unreadable = null;
            loop.advance(SECOND);
            assertThat(names("node-a")).hasSize(5);

            answersNull = true;
            publish(Pool.ofNode("node-a", gpus(6)));
            assertThat(publisher.lastInventory()).isPresent();
            answersNull = false;
            loop.advance(SECOND);

            assertThat(names("node-a")).hasSize(6);
            assertThat(events)
                    .anyMatch(event -> event.message().contains("DeviceProvider.inventory() returned null; return"));
            assertThat(reasons()).containsExactly(Reason.INVENTORY_UNREADABLE, Reason.PUBLISHING_RECOVERED);
        }

        @ParameterizedTest
        @CsvSource({
            "422, [POOL_REJECTED], PT0S",
            "500, [POOL_REJECTED], PT0S",
            "0, '[CLUSTER_UNREACHABLE, POOL_REJECTED]', PT31S" // without an answer
        })
        void ofOnePoolStopsNoOther(int status, String reasons, Duration wait) throws Exception {
            store.failing("node-a", Failures.status(status));
            start(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1)));
            loop.advance(wait);
            assertThat(names("node-b")).containsExactly("gpu-0");

            loop.advance(MINUTE);
            publish(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(2)));
            loop.advance(wait);

            assertThat(names("node-b")).hasSize(2);
            assertThat(isPublished()).isFalse();
            assertThat(reasons()).hasToString(reasons);
            store.failing("", null);
            loop.advance(SOON);
            assertThat(names("node-a")).containsExactly("gpu-0");
            assertThat(isPublished()).isTrue();
        }

        @Test
        void anOutageIsWaitedForWithGrowingPauses() throws Exception {
            store.listFailure = Failures.status(503);
            start();
            loop.advance(Duration.ofMinutes(10));
            assertThat(store.lists).isBetween(20, 60);
            for (int i = 0; i < 100; i++) {
                publisher.inventoryChanged();
            }
            int lists = store.lists;
            loop.advance(NOW);
            assertThat(store.lists).isEqualTo(lists);

            store.listFailure = null;
            loop.advance(SOON);

            assertThat(isPublished()).isTrue();
        }

        @Test
        void aConflictMakesItListAgain() {
            start();
            int lists = store.lists;
            store.failing("node-a", Failures.status(409));
            publish(Pool.ofNode("node-a", gpus(2)));

            store.failing("", null);
            loop.advance(SECOND);

            assertThat(store.lists).isGreaterThan(lists);
            assertThat(names("node-a")).hasSize(2);
        }
    }

    @Nested
    class Closing {

        @Test
        void leavesTheSlicesAndEndsTheWatches() {
            start();

            publisher.close();

            assertThat(store.slices).hasSize(1);
            assertThat(store.watchCount()).isZero();
            assertThat(loop.waiting()).isZero();
        }

        @Test
        void aPublisherWithItsOwnThreadReadsBeforeItPublishes() throws Exception {
            try (SlicePublisher own = new SlicePublisher(parts(SlicePublisherTest.this::read))) {
                assertThat(own.readInventory()).contains(inventory);
                assertThat(store.slices).isEmpty();
                own.start();
                assertThat(own.awaitPublished(Duration.ofSeconds(30))).isTrue();
            }
            assertThat(store.slices).hasSize(1);
        }
    }

    /** The requests of a driver with thousands of devices, which must not grow unnoticed. */
    @Nested
    class Cost {

        private static final int DEVICES = 4096;
        private static final int SLICES = DEVICES / 64;

        private static List<Device> allTainted() {
            return IntStream.range(0, DEVICES)
                    .mapToObj(i -> tainted("gpu-" + i, Taint.Effect.NO_SCHEDULE))
                    .toList();
        }

        private int requests() {
            return store.writes.size() + store.lists + store.questions;
        }

        @Test
        void taintedDevicesNeedTheirSlicesTwoListsAndAQuestion() throws Exception {
            inventory = Inventory.of(Pool.ofNode("node-a", allTainted()));
            publisher.start();
            loop.advance(NOW);

            assertThat(isPublished()).isTrue();
            assertThat(store.slices).hasSize(SLICES);
            assertThat(requests())
                    .as("%d writes, %d lists, %d questions", store.writes.size(), store.lists, store.questions)
                    .isLessThanOrEqualTo(SLICES + 3);
        }

        @Test
        void oneChangedDeviceIsOneWrite() throws Exception {
            start(Pool.ofNode("node-a", allTainted()));
            int before = requests();
            List<Device> changed = new ArrayList<>(allTainted());
            changed.set(
                    1000, changed.get(1000).toBuilder().attribute("new", true).build());

            publish(Pool.ofNode("node-a", changed));

            assertThat(isPublished()).isTrue();
            assertThat(store.writes).containsExactly("update node-a");
            assertThat(requests() - before).isOne();
        }

        @Test
        void anUnchangedInventoryIsNoRequest() {
            start(Pool.ofNode("node-a", allTainted()));
            int before = requests();

            publish(Pool.ofNode("node-a", allTainted()));
            loop.advance(SECOND);

            assertThat(requests()).isEqualTo(before);
        }
    }
}
