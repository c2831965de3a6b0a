// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.publish.plan.PlannedSlice;
import io.dra4j.runtime.internal.publish.plan.SliceWrite;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sequences of events that once left the cluster wrong, unguarded or in a storm. */
class PublishingMishapsTest extends PublisherUnderTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(SlicePublisher.class, Level.WARN);

    private static final Pool TAINTED = Pool.ofNode("node-a", List.of(tainted("gpu-0", Effect.NO_EXECUTE)));

    @Test
    void taintsKeepTheirTimesWhenTheirSlicesAreWiped() {
        Instant began = Instant.parse("2026-11-21T00:00:00Z");
        store.keeps = content -> dated(content, loop.instant());
        start(TAINTED);
        loop.advance(MINUTE);

        removeAnySlice();
        loop.advance(SECOND);

        assertThat(devices("node-a"))
                .singleElement()
                .satisfies(gpu -> assertThat(gpu.taints().get(0).timeAdded()).isEqualTo(began));
    }

    @Test
    void aSliceHasTheDevicesOfThePlanInMemory() {
        Content content = content("node-a");
        for (List<SliceWrite> writes :
                List.of(List.<SliceWrite>of(new SliceWrite.Create(0, content)), List.<SliceWrite>of())) {
            SliceView view = new SliceView(store, loop, loop, pool -> {}, () -> {});
            SliceWriter writer = new SliceWriter(store, view);
            view.refresh(false);
            writer.share(content.pool(), List.of(new PlannedSlice(0, content)));
            writer.apply(content.pool(), writes);
            assertThat(view.of(content.pool()).get(0).content().devices()).isSameAs(content.devices());
        }
    }

    @Test
    void theLastInventoryAndItsTaintsAreWrittenWhileTheNextIsRead() {
        Taint taint = Taint.of("k/unhealthy", null, Effect.NO_SCHEDULE);
        ManualLoop hardware = new ManualLoop();
        publisher = new SlicePublisher(parts(this::read), loop, hardware, loop, new Random(1));
        publisher.start();
        loop.advance(NOW);
        hardware.advance(NOW);
        publisher.inventoryChanged();
        loop.advance(NOW);
        assertThat(hardware.waiting()).as("reads").isOne();
        assertThat(publisher.missing()).isEmpty();

        taints = all -> Inventory.of(Pool.ofNode(
                "node-a",
                gpus(3).stream()
                        .map(gpu -> gpu.toBuilder().taint(taint).build())
                        .toList()));
        publisher.taintsChanged();
        loop.advance(NOW);

        assertThat(devices("node-a")).hasSize(3).allMatch(gpu -> gpu.taints().equals(List.of(taint)));
        hardware.hang();
        publisher.close();
        assertThat(log.list).singleElement().asString().contains("still reading its inventory");
    }

    @Test
    void aProviderThatHangsKeepsNoOtherFromRepairing() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch requested = new CountDownLatch(2);
        Callable<Inventory> source = () -> {
            requested.countDown();
            if (requested.getCount() == 0) {
                hangs.await();
            }
            return inventory;
        };
        try (SlicePublisher publisher = new SlicePublisher(parts(source))) {
            assertThat(publisher.readInventory()).contains(inventory);
            assertThat(store.slices).as("before the start").isEmpty();
            publisher.start();
            assertThat(publisher.awaitPublished(Duration.ofSeconds(30))).isTrue();
            publisher.inventoryChanged();
            requested.await();

            CountDownLatch repaired = new CountDownLatch(1);
            store.afterWrite = repaired::countDown;
            removeAnySlice();

            assertThat(repaired.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(publisher.awaitPublished(Duration.ZERO)).isFalse();
            hangs.countDown();
        }
    }

    @Test
    void aProviderForWhichThereIsNoThreadIsReadLater() {
        AtomicBoolean isScarce = new AtomicBoolean(true);
        Executor threads = task -> {
            if (isScarce.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
        };
        InventoryReader reader =
                new InventoryReader(this::read, threads, loop, () -> {}, loop, new Random(1), events::add);
        reader.refresh();
        assertThat(reader.isFailing()).isTrue();

        isScarce.set(false);
        loop.advance(SOON);
        reader.refresh();

        assertThat(reader.last()).isSameAs(inventory);
    }

    @Test
    void aChangeThatIsNotReadYetIsNotPublished() throws Exception {
        start();
        loop.execute(publisher::inventoryChanged); // while a round is about to begin
        publisher.inventoryChanged();

        assertThat(isPublished()).isFalse();
        loop.advance(Duration.ZERO);
        assertThat(isPublished()).isTrue();
    }

    @Test
    void aFileOfANewerReleaseIsNotCalledABug() throws Exception {
        store.listFailure = new DraException("Can't read devices.pins: run the newer release");
        start();
        loop.advance(SECOND);

        assertThat(reasons()).contains(Reason.INVENTORY_UNREADABLE).doesNotContain(Reason.UNEXPECTED_ERROR);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .anyMatch(line -> line.contains("run the newer release"))
                .noneMatch(line -> line.contains("unexpectedly"));
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

    /** Gives times to taints that come without one, as a server does. */
    private static Content dated(Content content, Instant now) {
        return content.withDevices(content.devices().stream()
                .map(gpu -> gpu.toBuilder()
                        .taints(gpu.taints().stream().map(it -> dated(it, now)).toList())
                        .build())
                .toList());
    }

    private static Taint dated(Taint taint, Instant now) {
        return taint.timeAdded() != null ? taint : new Taint(taint.key(), taint.value(), taint.effect(), now);
    }
}
