// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Two processes of a driver side by side: one writes slices, and the other goes on with it. */
class PublisherLockTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final PublisherUnderTest under = new PublisherUnderTest();

    @Nested
    class WhileAnotherProcessPublishes {

        @Test
        void thisOneAsksTheClusterForNothingAndAsksForItsTurnOnceASecond() {
            under.lock.othersHaveIt = true;
            under.start();
            under.lock.requested = 0;

            under.loop.advance(MINUTE);

            assertThat(under.lock.requested).isBetween(59, 61);
            assertThat(under.store.slices).isEmpty();
            assertThat(under.store.lists).isZero();
        }

        @Test
        void itsInventoryStaysCurrentBecauseClaimsNeedIt() throws InterruptedException {
            under.lock.othersHaveIt = true;
            under.start();

            under.inventory = Inventory.of(Pool.ofNode("node-a", PublisherUnderTest.gpus(5)));
            under.publisher.inventoryChanged();
            under.loop.advance(MINUTE);

            assertThat(under.publisher.lastInventory()).contains(under.inventory);
            assertThat(under.isPublished()).isFalse();
        }

        @Test
        void nothingIsMissingBecauseTheOtherAnswersForIt() {
            under.lock.othersHaveIt = true;
            under.start();

            assertThat(under.publisher.missing()).isEmpty();
        }

        @Test
        void theOthersSlicesStayEvenIfThisOneWasBuiltToRemoveThem() {
            under.start();
            under.publisher.close();
            under.removesOnClose = true;
            under.loop = new ManualLoop();
            under.lock.othersHaveIt = true;
            under.start();

            under.publisher.close();

            assertThat(under.store.slices).isNotEmpty();
        }
    }

    @Nested
    class WhenTheOtherProcessHasEnded {

        @Test
        void thisOneWritesNothingIfNothingIsToBeChanged() throws InterruptedException {
            under.start();
            under.publisher.close();
            under.loop = new ManualLoop();
            under.lock.othersHaveIt = true;
            under.start();
            under.lock.othersHaveIt = false;

            under.loop.advance(Duration.ofSeconds(1));

            assertThat(under.isPublished()).isTrue();
            assertThat(under.store.writes).isEmpty();
        }

        @Test
        void thisOneWritesWhatDiffersWithinASecond() throws InterruptedException {
            under.lock.othersHaveIt = true;
            under.start();
            under.loop.advance(MINUTE);
            under.lock.othersHaveIt = false;

            under.loop.advance(Duration.ofSeconds(1));

            assertThat(under.isPublished()).isTrue();
            assertThat(under.names("node-a")).containsExactly("gpu-0", "gpu-1", "gpu-2");
        }
    }

    @Test
    void aProcessThatStopsGivesItsTurnBackAfterItsLastWrite() {
        under.start();
        assertThat(under.lock.takenAndNotGivenBack).isOne();

        under.publisher.close();

        assertThat(under.lock.takenAndNotGivenBack).isZero();
    }

    @Test
    void aProcessThatStopsInAWriteThatHangsLeavesAllAsItIs() {
        under.removesOnClose = true;
        under.start();
        under.loop.hang();

        under.publisher.close();

        assertThat(under.store.slices).isNotEmpty();
        assertThat(under.lock.takenAndNotGivenBack).isOne();
    }

    @Test
    void aTurnIsTakenOnce() {
        under.start();

        under.loop.advance(Duration.ofHours(1));

        assertThat(under.lock.requested).isOne();
    }

    @Nested
    class WhatIsMissing {

        @Test
        void isTheInventoryBeforeItIsRead() {
            assertThat(under.publisher.missing()).containsExactly("inventory: not read yet");
        }

        @Test
        void isNothingOnceAllIsPublished() {
            under.start();

            assertThat(under.publisher.missing()).isEmpty();
        }

        @Test
        void isEachPoolByName() {
            Device tooLong = Device.builder("gpu-0").attribute("model", "x".repeat(65)).build();
            under.start();

            under.publish(
                    Pool.ofNode("good", PublisherUnderTest.gpus(2)),
                    Pool.ofNode("bad", List.of(tooLong)));

            assertThat(under.publisher.missing())
                    .isEqualTo(List.of("pool bad: it breaks a rule of the API; see the log"));
        }

        @Test
        void isTheApiServerWhileItCannotBeReached() {
            under.store.listFailure = Failures.status(500);
            under.start();

            assertThat(under.publisher.missing())
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("API server: "),
                            line -> assertThat(line).startsWith("pool node-a: it is not written"));
        }
    }
}
