// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.cluster.SliceStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
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
 *   <li>Closing leaves the slices in the cluster.
 * </ul>
 */
public final class SlicePublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SlicePublisher.class);
    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration FIRST_REPAIR = Duration.ofMillis(500);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
    private static final Duration QUIET = Duration.ofMinutes(1);
    private static final Duration LAST_WRITES = Duration.ofSeconds(5);

    /** Reads a full snapshot of what the node offers, or throws: unknown is not empty. */
    @FunctionalInterface
    public interface InventorySource {
        /** Reads the inventory, on the publisher's thread. */
        Inventory inventory() throws Exception;
    }

    private final InventorySource source;
    private final ScheduledExecutorService loop;
    private final InstantSource clock;
    private final PoolWriter writer;

    // Of the loop's thread.
    private final Backoff retries;
    private final Backoff repairs;
    private Instant lastRepair = Instant.MIN;
    private boolean inventoryKnown;
    private boolean started;
    private boolean clusterFailed;
    private @Nullable ScheduledFuture<?> next;

    private volatile @Nullable Inventory lastInventory;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition settled = lock.newCondition();
    // Guarded by lock: changes seen, and how many of them are in the cluster.
    private long changes = 1;
    private long published;

    /**
     * Makes a publisher with a thread of its own.
     *
     * @param source reads the inventory
     * @param store the slices in the cluster
     */
    public SlicePublisher(InventorySource source, SliceStore store) {
        this(source, store, newLoop(), InstantSource.system(), RandomGenerator.getDefault());
    }

    SlicePublisher(
            InventorySource source,
            SliceStore store,
            ScheduledExecutorService loop,
            InstantSource clock,
            RandomGenerator random) {
        this.source = source;
        this.loop = loop;
        this.clock = clock;
        this.writer = new PoolWriter(store, this::post, this::onForeignChange);
        this.retries = new Backoff(FIRST_RETRY, LONGEST_WAIT, random);
        this.repairs = new Backoff(FIRST_REPAIR, LONGEST_WAIT, random);
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
            loop.submit(this::refreshInventory).get();
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
                    schedule(Duration.ZERO);
                });
    }

    /** Says that the inventory must be read again and published. */
    public void inventoryChanged() {
        changed();
        post(
                () -> {
                    inventoryKnown = false;
                    // While the cluster fails, the retry that is due will do: no hammering.
                    if (!clusterFailed) {
                        schedule(Duration.ZERO);
                    }
                });
    }

    /** Returns the last inventory that could be read; empty if none ever could. */
    public Optional<Inventory> lastInventory() {
        return Optional.ofNullable(lastInventory);
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

    private void post(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // Closed: nothing is published any more.
        }
    }

    private void onForeignChange() {
        changed();
        if (next == null) {
            Instant now = clock.instant();
            if (lastRepair.isBefore(now.minus(QUIET))) {
                repairs.reset();
            }
            lastRepair = now;
            schedule(repairs.next());
        }
    }

    private void changed() {
        lock.lock();
        try {
            changes++;
        } finally {
            lock.unlock();
        }
    }

    private void schedule(Duration delay) {
        if (!started) {
            return;
        }
        if (next != null) {
            next.cancel(false);
        }
        next = loop.schedule(this::run, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** One round; the edge where everything that was thrown is logged and tried again. */
    private void run() {
        next = null;
        long seen = changesSeen();
        boolean done = false;
        try {
            done = round();
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("Publishing failed unexpectedly; will try again");
        }
        if (done) {
            retries.reset();
            settle(seen);
        } else {
            schedule(retries.next());
        }
    }

    private boolean round() {
        boolean read = refreshInventory();
        Inventory inventory = lastInventory;
        if (inventory == null) {
            return false;
        }
        PoolWriter.Outcome outcome = writer.write(inventory);
        clusterFailed = outcome == PoolWriter.Outcome.CLUSTER_FAILED;
        return read && outcome == PoolWriter.Outcome.PUBLISHED;
    }

    private boolean refreshInventory() {
        if (inventoryKnown) {
            return true;
        }
        try {
            lastInventory = source.inventory();
            inventoryKnown = true;
            return true;
        } catch (Exception | LinkageError e) {
            LOG.atError()
                    .setCause(e)
                    .log("The provider could not read its inventory; the last good slices stay");
            return false;
        }
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
