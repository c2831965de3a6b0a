// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class SlicePublisherTest extends PublisherUnderTest {

    @Nested
    class Closing {

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
