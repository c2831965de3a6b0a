// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static io.dra4j.runtime.internal.publish.PublisherUnderTest.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.publish.plan.Feature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Sequences of events that once left the cluster wrong, unguarded or in a storm. */
class PublishingMishapsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Taint FAULT = Taint.of("example.com/bad", null, Effect.NO_EXECUTE);

    private final PublisherUnderTest under = new PublisherUnderTest();
    private final List<Content> everStored = new ArrayList<>();

    private static Device tainted(String name) {
        return Device.builder(name).taint(FAULT).build();
    }

    private void rememberWhatWasEverVisible() {
        under.store.afterWrite =
                () -> under.store.slices.values().forEach(s -> everStored.add(s.content()));
    }

    private void assertNeverVisibleWithoutTaint(String name) {
        assertThat(everStored)
                .flatExtracting(Content::devices)
                .filteredOn(device -> device.name().value().equals(name))
                .allSatisfy(device -> assertThat(device.taints()).isNotEmpty());
    }

    @Test
    void aPoolPublishedElsewhereKeepsTheLoopIdle() {
        under.inventory = Inventory.of(Pool.publishedElsewhere("fabric"));
        under.start();
        under.store.create(
                0,
                new Content(
                        new PoolName("fabric"),
                        1,
                        1,
                        new Placement.ThisNode(),
                        gpus(1),
                        List.of()));

        under.loop.advance(MINUTE);

        assertThat(under.loop.ran()).isLessThan(20);
        assertThat(under.store.slices).hasSize(1);
    }

    @Test
    void aPoolThatTheServerFailsOnHoldsUpNoOther() {
        under.store.failing("node-a", Failures.status(500));
        under.inventory =
                Inventory.of(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1)));
        under.start();
        assertThat(under.names("node-b")).hasSize(1);

        under.loop.advance(MINUTE);
        under.publish(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(2)));

        assertThat(under.names("node-b")).hasSize(2);
        assertThat(under.reasons()).containsExactly(Reason.POOL_REJECTED);
    }

    @Test
    void aPoolWhoseRequestsGetNoAnswerHoldsUpNoOtherForLong() {
        under.store.failing("node-a", Failures.status(0));
        under.inventory =
                Inventory.of(Pool.ofNode("node-a", gpus(1)), Pool.ofNode("node-b", gpus(1)));
        under.start();

        under.loop.advance(MINUTE);

        assertThat(under.names("node-b")).hasSize(1);
    }

    @Test
    void aGateThatWasSwitchedOffIsNoticedBeforeAnotherSliceIsCreated() {
        under.inventory = Inventory.of(Pool.ofNode("node-a", List.of(tainted("gpu-0"))));
        under.start();
        under.publisher.close();
        // The server keeps what is in use, and leaves it out of what is new.
        under.store.keepsOfNew = content -> content.withDevices(untainted(content));
        rememberWhatWasEverVisible();

        under.loop = new ManualLoop();
        under.inventory =
                Inventory.of(
                        Pool.ofNode("node-a", List.of(tainted("gpu-0"))),
                        Pool.ofNode("node-b", List.of(tainted("gpu-1"))));
        under.start();
        under.loop.advance(MINUTE);

        assertNeverVisibleWithoutTaint("gpu-1");
        assertThat(under.names("node-a")).containsExactly("gpu-0");
        assertThat(under.names("node-b")).isEmpty();
    }

    @Test
    void anInvalidPoolIsNotRestoredWithoutItsGuards() {
        under.inventory = Inventory.of(Pool.ofNode("node-a", List.of(tainted("gpu-0"))));
        under.start();
        under.publish(
                Pool.ofNode("node-a", List.of(Device.builder("g").rawField("x", "{").build())));
        under.store.keeps = content -> content.withDevices(untainted(content));
        rememberWhatWasEverVisible();
        under.store.endWatches();
        under.store.remove(under.anySlice());

        under.loop.advance(MINUTE);

        assertNeverVisibleWithoutTaint("gpu-0");
    }

    @Test
    void aGuardThatIsLostInPartIsLost() {
        Device twice =
                tainted("gpu-0").toBuilder()
                        .taint(Taint.of("example.com/info", null, Effect.NONE))
                        .build();
        under.store.keeps =
                content ->
                        content.withDevices(
                                content.devices().stream()
                                        .map(PublishingMishapsTest::onlyInforming)
                                        .toList());
        under.start();
        under.publish(Pool.ofNode("node-a", List.of(twice)));
        under.loop.advance(MINUTE);

        assertThat(under.names("node-a")).isEmpty();
        assertThat(under.reasons()).containsExactly(Reason.DEVICES_WITHDRAWN);
    }

    @Test
    void aPolicyThatRefusesForAnotherReasonIsNoAnswerAboutFeatures() {
        under.store.questionFailure = Failures.invalid("denied by policy node-restriction");
        under.start();
        under.publish(Pool.ofNode("node-a", List.of(tainted("gpu-0"))));
        assertThat(under.reasons()).containsExactly(Reason.POOL_REJECTED);

        under.store.questionFailure = null;
        under.loop.advance(MINUTE);

        assertThat(under.names("node-a")).containsExactly("gpu-0");
    }

    @Test
    void taintsKeepTheirTimesWhenTheirSlicesAreWiped() {
        Instant began = Instant.parse("2026-11-21T00:00:00Z");
        under.store.keeps = content -> TaintDates.given(content, under.loop.instant());
        under.inventory = Inventory.of(Pool.ofNode("node-a", List.of(tainted("gpu-0"))));
        under.start();
        under.loop.advance(MINUTE);

        under.store.remove(under.anySlice());
        under.loop.advance(SECOND);

        assertThat(under.devices("node-a"))
                .singleElement()
                .satisfies(gpu -> assertThat(gpu.taints().get(0).timeAdded()).isEqualTo(began));
    }

    @Test
    void oneWatchThatLivesDoesNotHideThatAnotherIsDead() {
        under.inventory =
                Inventory.of(
                        Pool.ofNode("node-a", gpus(3)),
                        new Pool(
                                new PoolName("shared"),
                                new Placement.AllNodes(),
                                gpus(1),
                                List.of()));
        under.start();
        under.store.deafen(Scope.NODE);
        under.store.slices.values().stream()
                .filter(slice -> slice.content().pool().value().equals("node-a"))
                .findFirst()
                .ifPresent(slice -> under.store.remove(slice.name()));
        for (int i = 0; i < 4; i++) {
            under.loop.advance(MINUTE);
            under.store.bookmark(Scope.CLUSTER);
        }

        assertThat(under.names("node-a")).hasSize(3);
    }

    @Test
    void aWriteWhoseAnswerWasLostIsOurOwn() {
        under.start();
        under.store.losesAnswersOnly = true;
        for (int i = 4; i < 16; i++) {
            under.publish(Pool.ofNode("node-a", gpus(i)));
            under.loop.advance(SECOND.multipliedBy(5));
        }

        assertThat(under.reasons()).doesNotContain(Reason.SLICES_CONTESTED);
        assertThat(under.names("node-a")).hasSize(15);
    }

    @Test
    void aChangeIsWrittenAtOnceThoughARepairIsPending() {
        under.start();
        under.store.remove(under.anySlice());
        under.loop.advance(SECOND);
        under.store.remove(under.anySlice());
        under.store.remove(under.store.create(0, content("other")).name());

        under.publish(Pool.ofNode("node-a", gpus(4)));

        assertThat(under.names("node-a")).hasSize(4);
    }

    @Test
    void aChangeDuringAFightIsWrittenWithinSeconds() {
        under.start();
        for (int i = 0; i < 1200; i++) {
            List.copyOf(under.store.slices.keySet()).forEach(under.store::remove);
            under.loop.advance(Duration.ofMillis(50));
        }
        under.store.writes.clear();

        under.publish(Pool.ofNode("node-a", gpus(4)));
        under.loop.advance(SECOND.multipliedBy(2));

        assertThat(under.names("node-a")).hasSize(4);
    }

    private static Content content(String pool) {
        return new Content(new PoolName(pool), 1, 1, new Placement.ThisNode(), gpus(1), List.of());
    }

    @Test
    void aProviderThatChangesAllTheTimeIsFollowedOnceASecond() {
        under.start();
        for (int i = 0; i < 1200; i++) {
            under.publish(Pool.ofNode("node-a", gpus(1 + i % 7)));
            under.loop.advance(Duration.ofMillis(50));
        }
        int inAMinute = under.store.writes.size();
        under.loop.advance(SECOND.multipliedBy(10));

        assertThat(inAMinute).isBetween(40, 75);
        assertThat(under.names("node-a")).hasSize(1 + 1199 % 7);
    }

    @Test
    void aProviderThatHangsKeepsNoOtherFromRepairing() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch requested = new CountDownLatch(2);
        java.util.concurrent.Callable<Inventory> source =
                () -> {
                    requested.countDown();
                    if (requested.getCount() == 0) {
                        hangs.await();
                    }
                    return under.inventory;
                };
        try (SlicePublisher publisher =
                new SlicePublisher(
                        new SlicePublisher.Parts(
                                source,
                                true,
                                under.store,
                                under.lock,
                                under.events::add,
                                Meters.none(),
                                false,
                                UnaryOperator.identity()))) {
            publisher.readInventory();
            publisher.start();
            assertThat(publisher.awaitPublished(Duration.ofSeconds(10))).isTrue();
            publisher.inventoryChanged();
            requested.await();

            CountDownLatch repaired = new CountDownLatch(1);
            under.store.afterWrite = repaired::countDown;
            under.store.remove(under.anySlice());

            assertThat(repaired.await(10, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
            assertThat(publisher.awaitPublished(Duration.ZERO)).isFalse();
            hangs.countDown();
        }
    }

    @Test
    void aProviderThatAnswersNothingOrFailsUnexpectedlyIsCalledAgain() throws Exception {
        under.start();
        under.unreadable = new AssertionError("a bug of the provider");
        under.publish(Pool.ofNode("node-a", gpus(5)));
        under.unreadable = null;
        under.loop.advance(SECOND);
        assertThat(under.names("node-a")).hasSize(5);

        under.answersNull = true;
        under.publish(Pool.ofNode("node-a", gpus(6)));
        assertThat(under.publisher.lastInventory()).isPresent();
        under.answersNull = false;
        under.loop.advance(SECOND);

        assertThat(under.names("node-a")).hasSize(6);
        assertThat(under.events)
                .extracting(event -> event.message())
                .anyMatch(
                        words ->
                                words.contains("DeviceProvider.inventory() returned null; return"));
        assertThat(under.reasons())
                .containsExactly(Reason.INVENTORY_UNREADABLE, Reason.PUBLISHING_RECOVERED);
    }

    @Test
    void aServerThatGoesOnAskingToWaitHasNotRecovered() {
        under.start();
        under.store.failing("node-a", Failures.retryAfter(429, SECOND));
        under.publish(Pool.ofNode("node-a", gpus(4)));
        under.loop.advance(MINUTE.multipliedBy(5));
        assertThat(under.reasons()).containsExactly(Reason.CLUSTER_UNREACHABLE);

        under.store.failing("", null);
        under.loop.advance(MINUTE);

        assertThat(under.reasons())
                .containsExactly(Reason.CLUSTER_UNREACHABLE, Reason.PUBLISHING_RECOVERED);
    }

    @Test
    void aChangeThatIsNotReadYetIsNotPublished() throws Exception {
        under.start();
        under.loop.execute(
                () -> {
                    // Said while a round is about to begin.
                    under.publisher.inventoryChanged();
                });
        under.publisher.inventoryChanged();

        assertThat(under.isPublished()).isFalse();
        under.loop.advance(Duration.ZERO);
        assertThat(under.isPublished()).isTrue();
    }

    private static List<Device> untainted(Content content) {
        return content.devices().stream().map(Feature.TAINTS::without).toList();
    }

    private static Device onlyInforming(Device device) {
        return device.toBuilder()
                .taints(
                        device.taints().stream()
                                .filter(taint -> taint.effect() == Effect.NONE)
                                .toList())
                .build();
    }

    /** A server's times of taints that come without one. */
    private static final class TaintDates {
        static Content given(Content content, Instant now) {
            return content.withDevices(
                    content.devices().stream()
                            .map(
                                    device ->
                                            device.toBuilder()
                                                    .taints(
                                                            device.taints().stream()
                                                                    .map(t -> dated(t, now))
                                                                    .toList())
                                                    .build())
                            .toList());
        }

        private static Taint dated(Taint taint, Instant now) {
            return taint.timeAdded() != null
                    ? taint
                    : new Taint(taint.key(), taint.value(), taint.effect(), now);
        }
    }
}
