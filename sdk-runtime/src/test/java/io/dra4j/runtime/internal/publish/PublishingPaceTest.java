// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The pace of tries, repairs and reads, minute by minute. */
class PublishingPaceTest extends PublisherUnderTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(SlicePublisher.class, Level.WARN);

    @Nested
    class ARejectedPool {

        @Test
        void isTriedAtMostThirtyTimesAMinute() {
            start();
            store.failing("node-a", Failures.status(422));
            publish(Pool.ofNode("node-a", gpus(4)));
            loop.advance(MINUTE);
            int first = store.attempts;
            loop.advance(MINUTE.multipliedBy(10));

            assertThat(first).isBetween(5, 15);
            assertThat(store.attempts - first).isBetween(20, 60);
            assertThat(reasons()).containsExactly(Reason.POOL_REJECTED);
        }

        @Test
        void isTriedWithinTwoSecondsWhenItChanges() {
            start();
            store.failing("node-a", Failures.status(422));
            publish(Pool.ofNode("node-a", gpus(4)));
            loop.advance(MINUTE.multipliedBy(3));

            store.failing("", null);
            publish(Pool.ofNode("node-a", gpus(5)));
            loop.advance(SECOND.multipliedBy(2));

            assertThat(names("node-a")).hasSize(5);
            assertThat(reasons()).containsExactly(Reason.POOL_REJECTED, Reason.PUBLISHING_RECOVERED);
        }

        @Test
        void thatKeepsChangingIsStillTriedAtMostThirtyTimesAMinute() {
            start();
            store.failing("node-a", Failures.status(422));
            for (int i = 0; i < 600; i++) {
                publish(Pool.ofNode("node-a", gpus(i % 60)));
                loop.advance(Duration.ofMillis(100));
            }

            assertThat(store.attempts).isBetween(20, 35);
        }
    }

    @Nested
    class AServerThatAsksToWait {

        @Test
        void isGivenTheTimeEvenIfTheInventoryChanges() {
            start();
            store.failing("node-a", Failures.retryAfter(429, Duration.ofSeconds(20)));
            publish(Pool.ofNode("node-a", gpus(4)));
            loop.advance(SECOND.multipliedBy(10));
            publish(Pool.ofNode("node-a", gpus(5)));
            loop.advance(SECOND.multipliedBy(9));
            assertThat(store.attempts).isEqualTo(1);

            store.failing("", null);
            loop.advance(SECOND.multipliedBy(2));

            assertThat(names("node-a")).hasSize(5);
        }

        @Test
        void isNotWaitedForLongerThanFiveMinutes() {
            start();
            store.failing("node-a", Failures.retryAfter(503, Duration.ofHours(1)));
            publish(Pool.ofNode("node-a", gpus(4)));
            loop.advance(MINUTE.multipliedBy(6));

            assertThat(store.attempts).isEqualTo(2);
        }
    }

    @Nested
    class AnInvalidPool {

        @Test
        void keepsItsLastGoodSlicesEvenIfAnotherClientDeletesThem() throws Exception {
            start();
            publish(invalid(), Pool.ofNode("node-b", gpus(1)));
            assertThat(names("node-a")).hasSize(3);
            assertThat(names("node-b")).as("another pool").hasSize(1);
            assertThat(isPublished()).isFalse();

            removeAnySlice();
            loop.advance(SECOND);

            assertThat(names("node-a")).hasSize(3);
            assertThat(events.get(0).message()).contains("node-a", "gpu-0", "devices[gpu-0].x", "JSON", "\"{\"");
        }

        @Test
        void isPublishedWhenItIsValidAgain() throws Exception {
            start();
            publish(invalid());

            publish(Pool.ofNode("node-a", gpus(2)));

            assertThat(names("node-a")).hasSize(2);
            assertThat(isPublished()).isTrue();
            assertThat(reasons()).containsExactly(Reason.INVALID_POOL, Reason.PUBLISHING_RECOVERED);
        }

        @Test
        void afterARestartLeavesWhatIsThere() {
            start();
            inventory = Inventory.of(invalid());
            restart();
            loop.advance(MINUTE);

            assertThat(store.writes).isEmpty();
            assertThat(names("node-a")).hasSize(3);
        }
    }

    @Nested
    class AnAdversary {

        private void deletesEverythingEachTenthOfASecond(Duration time) {
            for (long i = 0; i < time.toMillis() / 100; i++) {
                List.copyOf(store.slices.keySet()).stream()
                        .filter(name ->
                                store.slices.get(name).content().pool().value().equals("node-a"))
                        .forEach(store::remove);
                loop.advance(Duration.ofMillis(100));
            }
        }

        @Test
        void isMetWithFewWritesAMinute() {
            start();
            deletesEverythingEachTenthOfASecond(MINUTE);
            int first = store.writes.size();
            deletesEverythingEachTenthOfASecond(MINUTE.multipliedBy(5));
            int later = store.writes.size() - first;

            System.out.printf("adversary: %d writes, then %d in five minutes%n", first, later);
            assertThat(first).isBetween(4, 15);
            assertThat(later).isBetween(10, 25);
            assertThat(reasons()).containsExactly(Reason.SLICES_CONTESTED);
        }

        @Test
        void holdsUpNoOtherPool() {
            start();
            deletesEverythingEachTenthOfASecond(MINUTE);

            publish(Pool.ofNode("node-a", gpus(3)), Pool.ofNode("node-b", gpus(1)));

            assertThat(names("node-b")).hasSize(1);
        }

        @Test
        void whoHasGoneIsForgottenAfterSomeMinutes() {
            start();
            deletesEverythingEachTenthOfASecond(MINUTE);
            loop.advance(MINUTE.multipliedBy(3));
            assertThat(names("node-a")).hasSize(3);

            removeAnySlice();
            loop.advance(SECOND);

            assertThat(names("node-a")).hasSize(3);
        }
    }

    @Nested
    class AWatch {

        @Test
        void thatIsSilentForTooLongIsTakenForDead() {
            start();
            store.deafen();
            removeAnySlice();
            loop.advance(Duration.ofSeconds(140));
            assertThat(names("node-a")).isEmpty();

            loop.advance(Duration.ofSeconds(15));

            assertThat(names("node-a")).hasSize(3);
        }

        @Test
        void withBookmarksNeedsNoOtherList() {
            start();
            int lists = store.lists;
            for (int i = 0; i < 30; i++) {
                loop.advance(MINUTE);
                store.bookmark();
            }

            assertThat(store.lists).isEqualTo(lists);
            assertThat(store.writes).isEmpty();
        }

        @Test
        void thatEndsAllTheTimeIsTakenUpLessAndLessOften() {
            start();
            store.onWatch = () -> loop.execute(store::endWatches);
            store.endWatches();
            loop.advance(MINUTE);
            int first = store.lists;
            loop.advance(MINUTE.multipliedBy(10));

            assertThat(first).isBetween(10, 40);
            assertThat(store.lists - first).isBetween(40, 120);
        }
    }

    @Nested
    class ALostAnswer {

        @Test
        void ofACreateLeavesOneSlice() {
            store.losesAnswers = true;
            start(Pool.ofNode("node-a", gpus(3)));
            assertThat(store.slices).hasSize(1);
            store.losesAnswers = false;

            loop.advance(Duration.ofMillis(200));

            assertThat(store.slices).hasSize(1);
            assertThat(store.writes).isEmpty();
        }
    }

    @Test
    void aBugIsToldAndTriedAgainAndLoggedWithItsStackOnce() throws Exception {
        store.listFailure = new IllegalStateException("a bug");
        start();
        loop.advance(SECOND);
        assertThat(reasons()).contains(Reason.UNEXPECTED_ERROR);
        store.listFailure = new IllegalStateException("another");
        loop.advance(SOON);

        assertThat(log.list)
                .filteredOn(event -> event.getThrowableProxy() != null)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        first -> assertThat(first).endsWith(": a bug (failure 1 in a row)"),
                        second -> assertThat(second).contains(": another (failure"));
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .anySatisfy(message -> assertThat(message).endsWith(": a bug (failure 2 in a row)"));

        store.listFailure = null;
        loop.advance(SOON);

        assertThat(isPublished()).isTrue();
    }

    @Test
    void anErrorOfTheMachineIsFatal() {
        store.listError = new OutOfMemoryError("test");
        start();

        assertThat(reasons()).containsExactly(Reason.PUBLISHER_FAILED);
        assertThat(publisher.missing()).containsExactly("publishing: has ended; restart the driver");
    }
}
