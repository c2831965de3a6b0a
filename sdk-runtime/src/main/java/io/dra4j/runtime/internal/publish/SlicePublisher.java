// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.pins.PinnedNames;
import io.dra4j.runtime.internal.publish.InventoryWriter.PublishStatus;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the cluster's slices equal to the inventory, from {@link #start} to {@link #close}.
 *
 * <ul>
 *   <li>One thread writes slices, another calls the provider; public methods may be called from any.
 *   <li>A change of the inventory is published immediately; slices that another client changed or
 *       deleted are repaired within about a second, then, if that continues, less and less often.
 *   <li>After a failure it tries again, with growing waits; an inventory that can't be read leaves
 *       the last good slices as they are.
 *   <li>Of the processes of a driver on a node one writes at a time; the others keep their
 *       inventory current, and one of them takes over when that one ends.
 *   <li>Closing leaves the slices in the cluster, unless configured otherwise.
 * </ul>
 */
public final class SlicePublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SlicePublisher.class);
    private static final Duration LAST_CALLS = Duration.ofSeconds(2);
    private static final Duration FIRST_READ = Duration.ofSeconds(30);
    private static final Duration REREAD_EVERY = Duration.ofMinutes(10);
    private static final int REMOVALS = 3;
    private static final String LOOP = "publishing";

    /**
     * The parts that a publisher works with.
     *
     * @param source reads a full snapshot, on a separate thread, or throws: unknown is not empty
     * @param mayTaint whether a device may ever have taints, counters or lists
     * @param lock acquires the right to write them, unless another process has it
     * @param removesOnClose asked at the end whether the slices are to be deleted
     * @param taints puts taints on what the source reads, and leaves devices out; applied each time it is written
     * @param storedTaints puts taints on a device as it is stored in the cluster, until the source has been read once
     * @param names returns the part of that which may be published
     */
    public record Parts(
            Callable<Inventory> source,
            boolean mayTaint,
            SliceStore store,
            Supplier<Optional<Turn>> lock,
            EventRecorder events,
            Meters meters,
            BooleanSupplier removesOnClose,
            UnaryOperator<Inventory> taints,
            UnaryOperator<Device> storedTaints,
            PinnedNames names) {}

    private final Parts parts;
    private final ScheduledExecutorService loop;
    private final ExecutorService providerThread;
    private final InstantSource clock;
    private final InventoryReader reader;
    private final InventoryWriter writer;
    private final PublisherLock lock;
    private final ChangeCounter changes = new ChangeCounter();
    // The changes that need no read of the inventory: of taints, and of slices by others.
    private final ChangeCounter taintChanges = new ChangeCounter();
    private volatile PublishStatus status = new PublishStatus(0, 0, List.of(), List.of());

    private volatile List<Device> stored = List.of();

    // Used only by the loop's thread.
    private final Retries rounds;
    private Instant nextReread;
    private boolean started;
    private boolean retainted;
    private volatile @Nullable Inventory written;
    private @Nullable ScheduledFuture<?> next;

    private final AtomicBoolean roundPosted = new AtomicBoolean();

    /** Creates a publisher with its own thread. */
    public SlicePublisher(Parts parts) {
        this(
                parts,
                ShortLivedThreads.upkeep("dra4j-publish"),
                ShortLivedThreads.single("dra4j-inventory"),
                steadyClock(),
                RandomGenerator.getDefault());
    }

    SlicePublisher(
            Parts parts,
            ScheduledExecutorService loop,
            ExecutorService providerThread,
            InstantSource clock,
            RandomGenerator random) {
        this.parts = parts;
        this.loop = loop;
        this.providerThread = providerThread;
        this.clock = clock;
        this.reader = new InventoryReader(
                parts.source(), providerThread, this::post, this::onRead, clock, random, parts.events());
        this.writer = new InventoryWriter(
                parts.store(), this::post, clock, random, parts.mayTaint(), parts.events(), this::onDue);
        this.lock = new PublisherLock(parts.lock(), clock);
        this.rounds = new Retries(random);
        this.nextReread = clock.instant().plus(REREAD_EVERY);
        parts.meters().watch(Metric.PUBLISHED_SLICES, () -> status().slices());
        parts.meters().watch(Metric.UNPUBLISHED_POOLS, () -> status().unpublishedPools());
        parts.meters().watch(Metric.LEFT_OUT_DEVICES, () -> leftOut().size());
    }

    /** A monotonic clock: if it were set back, all waits would grow. */
    static InstantSource steadyClock() {
        Instant start = Instant.now();
        long nanos = System.nanoTime();
        return () -> start.plusNanos(System.nanoTime() - nanos);
    }

    /**
     * Reads the inventory before anything is published, so that a driver serves only what it knows;
     * waits for half a minute at most.
     *
     * @return the inventory; empty if it could not be read, which is logged and not fatal
     */
    public Optional<Inventory> readInventory() {
        post(reader::refresh);
        try {
            if (!reader.awaitFirstResult(FIRST_READ)) {
                LOG.atWarn().log("The provider is taking a long time to read its inventory; continuing without it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return lastInventory();
    }

    public void start() {
        post(() -> {
            started = true;
            schedule(clock.instant());
        });
    }

    /** Returns whether this process of the driver is the one that writes; from any thread. */
    public boolean isPublishing() {
        return lock.isHeld();
    }

    /** Requests that the inventory be read again and published. */
    public void inventoryChanged() {
        reader.changed();
        changes.more();
        if (!roundPosted.getAndSet(true)) {
            post(() -> {
                roundPosted.set(false);
                schedule(clock.instant());
            });
        }
    }

    /** Requests that {@link Parts#taints} be applied again; the provider is not called. */
    public void taintsChanged() {
        changes.more();
        taintChanges.more();
        post(() -> {
            retainted = true;
            schedule(clock.instant());
        });
    }

    /** Returns the last inventory that could be read; empty if none ever could. */
    public Optional<Inventory> lastInventory() {
        return Optional.ofNullable(reader.last());
    }

    /** Returns why the last read of the inventory has failed; empty if it has not. */
    public Optional<String> unreadable() {
        return Optional.ofNullable(reader.problem());
    }

    /** Returns this node's devices in the cluster, until an inventory has been read. */
    public List<Device> storedDevices() {
        return stored;
    }

    /** Waits until the cluster equals the inventory, and returns whether it does. */
    public boolean awaitPublished(Duration limit) throws InterruptedException {
        return changes.awaitPublished(limit);
    }

    /**
     * Returns whether the cluster has the last inventory that could be read, with the current taints, even while a
     * later one can't be read. If none ever could, the result is about the devices that the cluster has.
     */
    public boolean areTaintsPublished() {
        return taintChanges.areAllPublished();
    }

    /** Returns what the provider leaves out, and what the API would refuse; from any thread. */
    public List<String> leftOut() {
        Stream<String> ofProvider =
                lastInventory().map(LeftOutDevices::lines).stream().flatMap(List::stream);
        return Stream.concat(ofProvider, status.leftOut().stream()).toList();
    }

    /** Returns what this process has published: nothing while another may, or its slices would count twice. */
    PublishStatus status() {
        PublishStatus last = status;
        return lock.isWaiting() ? new PublishStatus(0, 0, last.missing(), last.leftOut()) : last;
    }

    /** Returns what keeps the cluster from having devices, a line each; from any thread. */
    public List<String> missing() {
        boolean none = lastInventory().filter(LeftOutDevices::isNoneOffered).isPresent();
        return none ? List.of("devices: all are left out, and none is offered") : unpublished();
    }

    private List<String> unpublished() {
        List<String> known = new ArrayList<>();
        Optional<Inventory> last = lastInventory();
        if (last.isEmpty()) {
            known.add("inventory: not read yet" + unreadable().map(": "::concat).orElse(""));
        }
        if (lock.isWaiting()) { // another process publishes, and this one may have to replace it
            last.map(parts.taints()).map(writer::refused).ifPresent(known::addAll);
            return known;
        }
        known.addAll(status.missing());
        boolean isWritten = last.filter(inventory -> inventory.equals(written)).isPresent();
        return known.isEmpty() && !(isWritten && taintChanges.areAllPublished())
                ? List.of("inventory: a change is not published yet")
                : known;
    }

    /** Stops after the write and the read of the inventory in progress; waits a few seconds for them. */
    @Override
    public void close() {
        writer.stopWriting();
        loop.shutdown();
        providerThread.shutdown();
        try {
            if (loop.awaitTermination(LAST_CALLS.toMillis(), TimeUnit.MILLISECONDS)) {
                endAlone();
            } else {
                LOG.atWarn().log("The last request has not ended in time; the ResourceSlices stay as they are");
            }
            if (!providerThread.awaitTermination(LAST_CALLS.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atWarn().log("The provider is still reading its inventory while the driver stops");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The loop has ended: no other thread uses it. */
    private void endAlone() {
        try {
            if (parts.removesOnClose().getAsBoolean()) {
                if (lock.tryAcquire()) {
                    removeAll();
                } else {
                    LOG.atInfo().log("The ResourceSlices stay: another process publishes them");
                }
            }
        } finally {
            writer.close();
            lock.release();
        }
    }

    private void removeAll() {
        int left = -1;
        try {
            for (int attempt = 0; attempt < REMOVALS && left != 0; attempt++) {
                left = writer.deleteAll();
            }
        } catch (ClusterException e) {
            LOG.atWarn().setCause(e).log("Could not list this driver's ResourceSlices");
        }
        if (left == 0) {
            LOG.atInfo().log("Removed this driver's ResourceSlices of this node");
        } else {
            LOG.atError().log("Could not remove all ResourceSlices of this driver; delete them by hand");
        }
    }

    private void post(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // Closed: nothing more is published.
        }
    }

    private void onDue() {
        changes.more();
        taintChanges.more();
        schedule(writer.due().orElse(clock.instant()));
    }

    private void onRead() {
        schedule(clock.instant());
    }

    /** Ensures that a round starts by that time. */
    private void schedule(Instant due) {
        if (!started) {
            return;
        }
        Instant now = clock.instant();
        long millis = due.isAfter(now) ? Duration.between(now, due).toMillis() : 0;
        if (next != null) {
            if (next.getDelay(TimeUnit.MILLISECONDS) <= millis) {
                return;
            }
            next.cancel(false);
        }
        next = loop.schedule(this::run, millis, TimeUnit.MILLISECONDS);
    }

    /** Runs one round; the edge where all exceptions are reported and tried again. */
    private void run() {
        next = null;
        long seen = changes.seen();
        long taintsSeen = taintChanges.seen();
        try {
            if (round()) {
                taintChanges.arePublished(taintsSeen);
                if (reader.isCurrent()) {
                    changes.arePublished(seen);
                }
            }
            status = lock.isWaiting() ? status : writer.status();
            rounds.succeeded();
            scheduleNext();
        } catch (RuntimeException e) {
            failed(e);
        } catch (Error e) {
            loop.shutdown();
            status = new PublishStatus(0, 0, List.of("publishing: has ended; restart the driver"), List.of());
            lock.release();
            report(Reason.PUBLISHER_FAILED, "Publishing has ended; restart the driver: " + e, e);
            throw e;
        }
    }

    private void failed(RuntimeException e) {
        rounds.failed(clock.instant(), null);
        schedule(rounds.due());
        boolean isKnown = e instanceof DraException; // such as a file of a newer release, which a rollback left
        LOG.atError()
                .setCause(rounds.isNews(e.toString()) ? e : null)
                .log(
                        "Publishing failed{}; will try again: {} (failure {} in a row)",
                        isKnown ? "" : " unexpectedly",
                        e.toString(),
                        rounds.failures());
        report(
                isKnown ? Reason.INVENTORY_UNREADABLE : Reason.UNEXPECTED_ERROR,
                isKnown
                        ? "Devices can't be published; will try again: " + e.getMessage()
                        : "Publishing failed unexpectedly; will try again; please report this: " + e,
                e);
    }

    /** Returns whether the cluster equals the inventory that was read last. */
    private boolean round() {
        Instant now = clock.instant();
        if (!nextReread.isAfter(now)) {
            nextReread = now.plus(REREAD_EVERY);
            reader.changed();
            writer.compareAgain();
        }
        reader.refresh();
        Inventory inventory = reader.last();
        if (!lock.tryAcquire()) {
            return false;
        }
        if (lock.wasTaken()) {
            writer.forgetAll();
            written = null;
        }
        if (inventory == null) {
            return reader.isFailing() && isRetainted();
        }
        stored = List.of();
        if (reader.isReading() && inventory.equals(written) && !retainted && !isWriteDue(now)) {
            return false;
        }
        PinnedNames names = parts.names();
        boolean all = writer.write(names.publishable(parts.taints().apply(inventory), now));
        names.written(name -> writer.mayHave(name.pool(), name.device()), now);
        written = inventory;
        retainted = false;
        return all;
    }

    private boolean isRetainted() {
        boolean areNew = retainted;
        retainted = false;
        boolean all = writer.retaint(parts.storedTaints(), areNew);
        stored = writer.stored();
        return all;
    }

    private boolean isWriteDue(Instant now) {
        return Stream.concat(writer.due().stream(), parts.names().due().stream())
                .anyMatch(due -> !due.isAfter(now));
    }

    private void scheduleNext() {
        Stream<Optional<Instant>> writes = lock.isWaiting()
                ? Stream.of(lock.due())
                : Stream.of(writer.due(), parts.names().due());
        schedule(Stream.concat(Stream.of(Optional.of(nextReread), reader.due()), writes)
                .flatMap(Optional::stream)
                .min(Instant::compareTo)
                .orElse(nextReread));
    }

    private void report(Reason reason, String message, @Nullable Throwable cause) {
        parts.events().record(new DriverEvent(reason, LOOP, message, cause));
    }

    /** Counts changes, and those of them that are in the cluster; thread-safe. */
    private static final class ChangeCounter {

        // Guarded by this. The start counts as a change.
        private long seen = 1;
        private long published;

        synchronized void more() {
            seen++;
        }

        synchronized long seen() {
            return seen;
        }

        /** Notes that the cluster has this number of changes. */
        synchronized void arePublished(long count) {
            published = count;
            notifyAll();
        }

        synchronized boolean areAllPublished() {
            return published >= seen;
        }

        /** Waits until the cluster has all of them, and returns whether it does. */
        synchronized boolean awaitPublished(Duration limit) throws InterruptedException {
            long end = System.nanoTime() + limit.toNanos();
            while (!areAllPublished()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            return true;
        }
    }
}
