// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.observe.Notice;
import io.dra4j.runtime.internal.observe.Notice.Reason;
import io.dra4j.runtime.internal.observe.Notices;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the cluster's slices equal to the inventory, from {@link #start} to {@link #close}.
 *
 * <ul>
 *   <li>One thread reads the inventory and writes slices; public methods may be called from any.
 *   <li>A change of the inventory is published at once; slices that somebody else changed or
 *       deleted are put right within about a second, then, if it goes on, less and less often.
 *   <li>After a failure it tries again, with growing waits; an inventory that can't be read leaves
 *       the last good slices as they are.
 *   <li>Closing leaves the slices in the cluster, unless told otherwise.
 * </ul>
 */
public final class SlicePublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SlicePublisher.class);
    private static final Duration LAST_WRITES = Duration.ofSeconds(5);
    private static final Duration SAFETY_ROUND = Duration.ofMinutes(10);
    private static final String LOOP = "publishing";

    /** Reads a full snapshot of what the node offers, or throws: unknown is not empty. */
    @FunctionalInterface
    public interface InventorySource {
        /** Reads the inventory, on the publisher's thread. */
        Inventory inventory() throws Exception;
    }

    /**
     * What a publisher works with.
     *
     * @param source reads the inventory
     * @param mayTaint whether a device may ever have taints, counters or lists
     * @param store the slices in the cluster
     * @param notices takes what the host and the admins should know
     * @param removesOnClose whether closing deletes the slices
     */
    public record Parts(
            InventorySource source,
            boolean mayTaint,
            SliceStore store,
            Notices notices,
            boolean removesOnClose) {}

    private final Parts parts;
    private final ScheduledExecutorService loop;
    private final InstantSource clock;
    private final InventoryReader reader;
    private final InventoryWriter writer;

    // Of the loop's thread.
    private final Pace rounds;
    private boolean started;
    private @Nullable ScheduledFuture<?> next;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition settled = lock.newCondition();
    // Guarded by lock: changes seen, and how many of them are in the cluster.
    private long changes = 1;
    private long published;

    /** Makes a publisher with a thread of its own. */
    public SlicePublisher(Parts parts) {
        this(parts, newLoop(), InstantSource.system(), RandomGenerator.getDefault());
    }

    SlicePublisher(
            Parts parts,
            ScheduledExecutorService loop,
            InstantSource clock,
            RandomGenerator random) {
        this.parts = parts;
        this.loop = loop;
        this.clock = clock;
        this.reader = new InventoryReader(parts.source(), clock, random, parts.notices());
        this.writer =
                new InventoryWriter(
                        parts.store(),
                        this::post,
                        clock,
                        random,
                        parts.mayTaint(),
                        parts.notices(),
                        this::onForeignHand);
        this.rounds = new Pace(random);
    }

    private static ScheduledExecutorService newLoop() {
        ScheduledThreadPoolExecutor loop =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread thread = new Thread(task, "dra4j-publish");
                            thread.setDaemon(true);
                            return thread;
                        });
        loop.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        loop.setRemoveOnCancelPolicy(true);
        return loop;
    }

    /**
     * Reads the inventory before anything is published, so that a driver serves only what it knows.
     *
     * @return the inventory; empty if it could not be read, which is logged and not fatal
     */
    public Optional<Inventory> readInventory() {
        try {
            loop.submit(reader::read).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("The publisher's thread failed", e.getCause());
        }
        return lastInventory();
    }

    /** Begins to publish. */
    public void start() {
        post(
                () -> {
                    started = true;
                    schedule(clock.instant());
                });
    }

    /** Says that the inventory must be read again and published. */
    public void inventoryChanged() {
        changed();
        post(
                () -> {
                    reader.changed();
                    schedule(clock.instant());
                });
    }

    /** Returns the last inventory that could be read; empty if none ever could. */
    public Optional<Inventory> lastInventory() {
        return Optional.ofNullable(reader.last());
    }

    /**
     * Waits until the cluster equals the inventory.
     *
     * @param limit how long to wait
     * @return whether it does
     */
    public boolean awaitPublished(Duration limit) throws InterruptedException {
        long nanos = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (published < changes) {
                if (nanos <= 0) {
                    return false;
                }
                nanos = settled.awaitNanos(nanos);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Stops after the write in progress; waits for it for some seconds. */
    @Override
    public void close() {
        loop.shutdown();
        try {
            if (loop.awaitTermination(LAST_WRITES.toMillis(), TimeUnit.MILLISECONDS)) {
                if (parts.removesOnClose()) {
                    removeAll(); // the loop has ended: this thread is alone
                }
                writer.stop();
            } else {
                LOG.atWarn()
                        .log(
                                "A last write, or the provider's inventory, takes too long to wait for");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void removeAll() {
        try {
            writer.deleteAll();
            LOG.atInfo().log("Removed this driver's ResourceSlices of this node");
        } catch (ClusterException e) {
            LOG.atError()
                    .setCause(e)
                    .log("Could not remove this driver's ResourceSlices; delete them by hand");
        }
    }

    private void post(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // Closed: nothing is published any more.
        }
    }

    private void onForeignHand() {
        changed();
        schedule(writer.due().orElse(clock.instant()));
    }

    private void changed() {
        lock.lock();
        try {
            changes++;
        } finally {
            lock.unlock();
        }
    }

    /** Sees to it that a round comes no later than that. */
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

    /** One round; the edge where everything that was thrown is told and tried again. */
    private void run() {
        next = null;
        long seen = changesSeen();
        try {
            if (round()) {
                settle(seen);
            }
            rounds.succeeded(clock.instant(), 0);
            scheduleNext();
        } catch (RuntimeException e) {
            rounds.failed(clock.instant(), null);
            schedule(rounds.due());
            LOG.atError().setCause(e).log("Publishing failed unexpectedly; will try again");
            tell(
                    Reason.UNEXPECTED_ERROR,
                    "Publishing failed unexpectedly; will try again; please report this: " + e,
                    e);
        } catch (Error e) {
            tell(Reason.PUBLISHER_FAILED, "Publishing has ended; restart the driver: " + e, e);
            throw e;
        }
    }

    private boolean round() {
        boolean read = reader.read();
        Inventory inventory = reader.last();
        return inventory != null && writer.write(inventory) && read;
    }

    private void scheduleNext() {
        Instant safety = clock.instant().plus(SAFETY_ROUND);
        Instant read = reader.due().orElse(safety);
        schedule(Collections.min(List.of(safety, read, writer.due().orElse(safety))));
    }

    private void tell(Reason reason, String message, @Nullable Throwable cause) {
        parts.notices().take(new Notice(reason, LOOP, message, cause));
    }

    private long changesSeen() {
        lock.lock();
        try {
            return changes;
        } finally {
            lock.unlock();
        }
    }

    private void settle(long seen) {
        lock.lock();
        try {
            published = seen;
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
