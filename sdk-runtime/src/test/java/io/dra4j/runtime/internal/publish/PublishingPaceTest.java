// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static io.dra4j.runtime.internal.publish.PublisherUnderTest.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The pace of tries, repairs and reads, minute by minute. */
class PublishingPaceTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final PublisherUnderTest under = new PublisherUnderTest();

    private Pool invalid() {
        return Pool.ofNode("node-a", List.of(Device.builder("gpu-0").rawField("x", "{").build()));
    }

    @Nested
    class ARejectedPool {

        @Test
        void isTriedAtMostThirtyTimesAMinute() {
            under.start();
            under.store.failing("node-a", Failures.status(422));
            under.publish(Pool.ofNode("node-a", gpus(4)));
            under.loop.advance(MINUTE);
            int first = under.store.attempts;
            under.loop.advance(MINUTE.multipliedBy(10));

            assertThat(first).isBetween(5, 15);
            assertThat(under.store.attempts - first).isBetween(20, 60);
            assertThat(under.reasons()).containsExactly(Reason.POOL_REJECTED);
        }

        @Test
        void holdsUpNoOther() {
            under.start();
            under.store.failing("node-a", Failures.status(422));
            under.publish(Pool.ofNode("node-a", gpus(4)), Pool.ofNode("node-b", gpus(1)));
            under.loop.advance(MINUTE);

            under.publish(Pool.ofNode("node-a", gpus(4)), Pool.ofNode("node-b", gpus(2)));

            assertThat(under.names("node-b")).hasSize(2);
        }

        @Test
        void isTriedWithinTwoSecondsWhenItChanges() {
            under.start();
            under.store.failing("node-a", Failures.status(422));
            under.publish(Pool.ofNode("node-a", gpus(4)));
            under.loop.advance(MINUTE.multipliedBy(3));

            under.store.failing("", null);
            under.publish(Pool.ofNode("node-a", gpus(5)));
            under.loop.advance(SECOND.multipliedBy(2));

            assertThat(under.names("node-a")).hasSize(5);
            assertThat(under.reasons())
                    .containsExactly(Reason.POOL_REJECTED, Reason.PUBLISHING_RECOVERED);
        }

        @Test
        void thatKeepsChangingIsStillTriedAtMostThirtyTimesAMinute() {
            under.start();
            under.store.failing("node-a", Failures.status(422));
            for (int i = 0; i < 600; i++) {
                under.publish(Pool.ofNode("node-a", gpus(i % 60)));
                under.loop.advance(Duration.ofMillis(100));
            }

            assertThat(under.store.attempts).isBetween(20, 35);
        }
    }

    @Nested
    class AServerThatAsksToWait {

        @Test
        void isGivenTheTimeEvenIfTheInventoryChanges() {
            under.start();
            under.store.failing("node-a", Failures.retryAfter(429, Duration.ofSeconds(20)));
            under.publish(Pool.ofNode("node-a", gpus(4)));
            under.loop.advance(SECOND.multipliedBy(10));
            under.publish(Pool.ofNode("node-a", gpus(5)));
            under.loop.advance(SECOND.multipliedBy(9));
            assertThat(under.store.attempts).isEqualTo(1);

            under.store.failing("", null);
            under.loop.advance(SECOND.multipliedBy(2));

            assertThat(under.names("node-a")).hasSize(5);
        }

        @Test
        void isNotWaitedForLongerThanFiveMinutes() {
            under.start();
            under.store.failing("node-a", Failures.retryAfter(503, Duration.ofHours(1)));
            under.publish(Pool.ofNode("node-a", gpus(4)));
            under.loop.advance(MINUTE.multipliedBy(6));

            assertThat(under.store.attempts).isEqualTo(2);
        }
    }

    @Nested
    class AnInvalidPool {

        @Test
        void keepsItsLastGoodSlicesEvenIfAnotherClientDeletesThem() throws Exception {
            under.start();
            under.publish(invalid());
            assertThat(under.names("node-a")).hasSize(3);
            assertThat(under.isPublished()).isFalse();

            under.store.remove(under.anySlice());
            under.loop.advance(SECOND);

            assertThat(under.names("node-a")).hasSize(3);
            assertThat(under.events.get(0).message())
                    .contains("node-a", "gpu-0", "devices[gpu-0].x", "JSON", "\"{\"");
        }

        @Test
        void isPublishedWhenItIsValidAgain() throws Exception {
            under.start();
            under.publish(invalid());

            under.publish(Pool.ofNode("node-a", gpus(2)));

            assertThat(under.names("node-a")).hasSize(2);
            assertThat(under.isPublished()).isTrue();
            assertThat(under.reasons())
                    .containsExactly(Reason.INVALID_POOL, Reason.PUBLISHING_RECOVERED);
        }

        @Test
        void afterARestartLeavesWhatIsThere() {
            under.start();
            under.publisher.close();
            under.loop = new ManualLoop();
            under.inventory = Inventory.of(invalid());
            under.start();
            under.loop.advance(MINUTE);

            assertThat(under.store.writes).isEmpty();
            assertThat(under.names("node-a")).hasSize(3);
        }
    }

    @Nested
    class AnAdversary {

        private void deletesEverythingEachTenthOfASecond(Duration time) {
            for (long i = 0; i < time.toMillis() / 100; i++) {
                List.copyOf(under.store.slices.keySet()).stream()
                        .filter(
                                name ->
                                        under.store
                                                .slices
                                                .get(name)
                                                .content()
                                                .pool()
                                                .value()
                                                .equals("node-a"))
                        .forEach(under.store::remove);
                under.loop.advance(Duration.ofMillis(100));
            }
        }

        @Test
        void isMetWithFewWritesAMinute() {
            under.start();
            deletesEverythingEachTenthOfASecond(MINUTE);
            int first = under.store.writes.size();
            deletesEverythingEachTenthOfASecond(MINUTE.multipliedBy(5));
            int later = under.store.writes.size() - first;

            System.out.printf("adversary: %d writes, then %d in five minutes%n", first, later);
            assertThat(first).isBetween(4, 15);
            assertThat(later).isBetween(10, 25);
            assertThat(under.reasons()).containsExactly(Reason.SLICES_CONTESTED);
        }

        @Test
        void ofALargePoolIsMetWithFewWritesAMinuteToo() {
            under.inventory = Inventory.of(Pool.ofNode("node-a", gpus(64 * 10)));
            under.start();
            deletesEverythingEachTenthOfASecond(MINUTE);
            under.store.writes.clear();
            deletesEverythingEachTenthOfASecond(MINUTE.multipliedBy(5));

            assertThat(under.store.writes).hasSizeBetween(10, 5 * 30);
        }

        @Test
        void holdsUpNoOtherPool() {
            under.start();
            deletesEverythingEachTenthOfASecond(MINUTE);

            under.publish(Pool.ofNode("node-a", gpus(3)), Pool.ofNode("node-b", gpus(1)));

            assertThat(under.names("node-b")).hasSize(1);
        }

        @Test
        void whoHasGoneIsForgottenAfterSomeMinutes() {
            under.start();
            deletesEverythingEachTenthOfASecond(MINUTE);
            under.loop.advance(MINUTE.multipliedBy(3));
            assertThat(under.names("node-a")).hasSize(3);

            under.store.remove(under.anySlice());
            under.loop.advance(SECOND);

            assertThat(under.names("node-a")).hasSize(3);
        }
    }

    @Nested
    class AWatch {

        @Test
        void thatIsSilentForTooLongIsTakenForDead() {
            under.start();
            under.store.deafen();
            under.store.remove(under.anySlice());
            under.loop.advance(Duration.ofSeconds(140));
            assertThat(under.names("node-a")).isEmpty();

            under.loop.advance(Duration.ofSeconds(15));

            assertThat(under.names("node-a")).hasSize(3);
        }

        @Test
        void withBookmarksNeedsNoOtherList() {
            under.start();
            int lists = under.store.lists;
            for (int i = 0; i < 30; i++) {
                under.loop.advance(MINUTE);
                under.store.bookmark();
            }

            assertThat(under.store.lists).isEqualTo(lists);
            assertThat(under.store.writes).isEmpty();
        }

        @Test
        void thatEndsAllTheTimeIsTakenUpLessAndLessOften() {
            under.start();
            under.store.onWatch = () -> under.loop.execute(under.store::endWatches);
            under.store.endWatches();
            under.loop.advance(MINUTE);
            int first = under.store.lists;
            under.loop.advance(MINUTE.multipliedBy(10));

            assertThat(first).isBetween(10, 40);
            assertThat(under.store.lists - first).isBetween(40, 120);
        }

        @Test
        void thatEndsHoldsUpNoChange() {
            under.start();
            under.store.endWatches();

            under.publish(Pool.ofNode("node-a", gpus(4)));

            assertThat(under.names("node-a")).hasSize(4);
        }
    }

    @Nested
    class ALostAnswer {

        @Test
        void ofACreateLeavesOneSlice() {
            under.store.losesAnswers = true;
            under.inventory = Inventory.of(Pool.ofNode("node-a", gpus(3)));
            under.start();
            assertThat(under.store.slices).hasSize(1);
            under.store.losesAnswers = false;

            under.loop.advance(Duration.ofMillis(200));

            assertThat(under.store.slices).hasSize(1);
            assertThat(under.store.writes).isEmpty();
        }
    }

    @Nested
    class Closing {

        @Test
        void removesTheSlicesIfAskedTo() {
            under.removesOnClose = true;
            under.inventory =
                    Inventory.of(Pool.ofNode("node-a", gpus(200)), Pool.ofNode("node-b", gpus(1)));
            under.start();
            assertThat(under.store.slices).hasSize(5);

            under.publisher.close();

            assertThat(under.store.slices).isEmpty();
        }
    }

    @Test
    void aServerWithoutTheApiIsFatal() {
        under.store.listFailure = new ClusterException.ApiMissing("no such API");
        under.start();

        assertThat(under.reasons()).containsExactly(Reason.API_MISSING);
    }

    @Test
    void aBugIsToldAndTriedAgain() throws Exception {
        under.store.listFailure = new IllegalStateException("a bug");
        under.start();
        assertThat(under.reasons()).containsExactly(Reason.UNEXPECTED_ERROR);

        under.store.listFailure = null;
        under.loop.advance(SECOND);

        assertThat(under.isPublished()).isTrue();
    }

    @Test
    void anErrorOfTheMachineIsFatal() {
        under.store.listError = new OutOfMemoryError("test");
        under.start();

        assertThat(under.reasons()).containsExactly(Reason.PUBLISHER_FAILED);
        assertThat(under.publisher.missing())
                .containsExactly("publishing: has ended; restart the driver");
    }
}
