// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Two processes of a driver side by side: one writes slices, and the other goes on with it. */
class PublisherLockTest extends PublisherUnderTest {

    @Nested
    class WhileAnotherProcessPublishes {

        @Test
        void thisOneAsksTheClusterForNothingAndAsksForItsTurnOnceASecond() {
            lock.othersHaveIt = true;
            start();
            lock.requested = 0;

            loop.advance(MINUTE);

            assertThat(lock.requested).isBetween(59, 61);
            assertThat(store.slices).isEmpty();
            assertThat(store.lists).isZero();
        }

        @Test
        void itsInventoryStaysCurrentBecauseClaimsNeedIt() throws InterruptedException {
            lock.othersHaveIt = true;
            start();

            publish(Pool.ofNode("node-a", gpus(5)));
            loop.advance(MINUTE);

            assertThat(publisher.lastInventory()).contains(inventory);
            assertThat(isPublished()).isFalse();
        }

        @Test
        void nothingIsMissingBecauseTheOtherAnswersForIt() {
            lock.othersHaveIt = true;
            start();

            assertThat(publisher.missing()).isEmpty();
        }

        @Test
        void theOthersSlicesStayEvenIfThisOneWasBuiltToRemoveThem() {
            start();
            removesOnClose = true;
            lock.othersHaveIt = true;
            restart();

            publisher.close();

            assertThat(store.slices).isNotEmpty();
        }
    }

    @Nested
    class WhenTheOtherProcessHasEnded {

        @Test
        void thisOneWritesNothingIfNothingIsToBeChanged() throws InterruptedException {
            start();
            lock.othersHaveIt = true;
            restart();
            lock.othersHaveIt = false;

            loop.advance(SECOND);

            assertThat(isPublished()).isTrue();
            assertThat(store.writes).isEmpty();
        }
    }

    @Test
    void slicesOfALostTurnAreCountedByTheProcessThatHasThemNow() {
        start();
        assertThat(publisher.status().slices()).isOne();

        lock.othersHaveIt = true;
        assertThat(publisher.status().slices()).isZero();
    }

    @Test
    void aProcessThatStopsGivesItsTurnBackAfterItsLastWrite() {
        start();
        assertThat(lock.takenAndNotGivenBack).isOne();

        publisher.close();

        assertThat(lock.takenAndNotGivenBack).isZero();
    }

    @Test
    void aProcessThatStopsInAWriteThatHangsLeavesAllAsItIs() {
        removesOnClose = true;
        start();
        loop.hang();

        publisher.close();

        assertThat(store.slices).isNotEmpty();
        assertThat(lock.takenAndNotGivenBack).isOne();
    }

    @Test
    void aTurnIsTakenOnce() {
        start();

        loop.advance(Duration.ofHours(1));

        assertThat(lock.requested).isOne();
    }

    @Test
    void aTurnThatEndsAmidWritesIsWaitedForAsAnyOther() throws InterruptedException {
        start();
        store.afterWrite = () -> {
            lock.othersHaveIt = true;
            store.failing("node-a", new CancellationException("another leads"));
        };

        publish(Pool.ofNode("node-a", gpus(200)));
        lock.requested = 0;
        loop.advance(MINUTE);
        assertThat(lock.requested).isBetween(59, 61);
        store.failing("node-a", null);
        lock.othersHaveIt = false;
        store.afterWrite = () -> {};
        loop.advance(SECOND);

        assertThat(isPublished()).isTrue();
        assertThat(names("node-a")).hasSize(200);
    }

    @Test
    void aTurnThatIsTakenAgainContinuesWithTheSlicesThatAnotherProcessLeft() throws InterruptedException {
        start();
        lock.othersHaveIt = true;
        publish(Pool.ofNode("node-a", gpus(4)));
        store.deafen(); // its watch is as old as what it saw last
        store.change(anySlice(), slice -> slice.at(7, 1).withDevices(gpus(2)));
        lock.othersHaveIt = false;

        publish(Pool.ofNode("node-a", gpus(5)));
        loop.advance(SECOND);

        assertThat(isPublished()).isTrue();
        assertThat(names("node-a")).hasSize(5);
        assertThat(store.slices.values())
                .singleElement()
                .satisfies(slice -> assertThat(slice.content().generation()).isEqualTo(7));
        assertThat(store.conflicts).as("the slices were read again").isZero();
    }

    @Test
    void aTurnThatAnotherProcessTookIsNotUsedAndIsWaitedFor() throws InterruptedException {
        start();
        lock.othersHaveIt = true;

        publish(Pool.ofNode("node-a", gpus(5)));
        loop.advance(MINUTE);
        assertThat(names("node-a")).hasSize(3);
        assertThat(lock.takenAndNotGivenBack).isZero();
        lock.othersHaveIt = false;
        loop.advance(SECOND);

        assertThat(names("node-a")).hasSize(5);
        assertThat(isPublished()).isTrue();
    }

    @Nested
    class WhatIsMissing {

        @Test
        void isTheInventoryBeforeItIsRead() {
            assertThat(publisher.missing()).containsExactly("inventory: not read yet");
        }

        @Test
        void isNothingOnceAllIsPublished() {
            start();

            assertThat(publisher.missing()).isEmpty();
        }

        @Test
        void isEachPoolByName() {
            Device tooLong =
                    Device.builder("gpu-0").attribute("model", "x".repeat(65)).build();
            start();

            publish(Pool.ofNode("good", gpus(2)), Pool.ofNode("bad", List.of(tooLong)));

            assertThat(publisher.missing()).isEqualTo(List.of("pool bad: it breaks a rule of the API; see the log"));
        }

        @Test
        void isTheApiServerWhileItCannotBeReached() {
            store.listFailure = Failures.status(500);
            start();

            assertThat(publisher.missing())
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("API server: "),
                            line -> assertThat(line).startsWith("pool node-a: it is not written"));
        }
    }
}
