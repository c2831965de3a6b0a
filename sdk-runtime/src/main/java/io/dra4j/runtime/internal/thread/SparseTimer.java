// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one at a time when they are due, on a thread that exists only meanwhile.
 *
 * <p>All of these timers wait on one thread. Their tasks run on platform threads, because
 * they read files, which may stall, and would hold a carrier of virtual threads then. After a shutdown no task starts;
 * an interrupt is passed on only by {@link #shutdownNow}. Thread-safe.
 */
final class SparseTimer extends AbstractExecutorService implements ScheduledExecutorService {

    private static final Logger LOG = LoggerFactory.getLogger(SparseTimer.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ThreadFactory threads;
    private final LongFunction<CompletableFuture<Void>> clock;
    private final Set<Timed<?>> waiting = new HashSet<>();
    private final Deque<Runnable> due = new ArrayDeque<>();
    private @Nullable Thread runner;
    private boolean isShutdown;

    /**
     * Creates a timer.
     *
     * @param clock returns a future that completes after nanoseconds
     */
    SparseTimer(ThreadFactory threads, LongFunction<CompletableFuture<Void>> clock) {
        this.threads = threads;
        this.clock = clock;
    }

    @Override
    public synchronized void execute(Runnable task) {
        if (isShutdown) {
            throw new RejectedExecutionException("The timer was shut down");
        }
        due.add(task instanceof FutureTask ? task : new FutureTask<>(task, null)); // it keeps what the task throws
        start();
    }

    /** The loops of a driver must survive that the process may have no more threads for a while. */
    private synchronized void start() {
        if (runner != null || due.isEmpty()) {
            return;
        }
        Thread thread = threads.newThread(this::runDue);
        runner = thread;
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            runner = null;
            LOG.atWarn().setCause(e).log("No thread for {}; trying again", thread.getName());
            clock.apply(RETRY_NANOS).thenRun(this::start);
        }
    }

    private void runDue() {
        try {
            for (Runnable task = nextDue(); task != null; task = nextDue()) {
                task.run();
            }
        } finally {
            end();
        }
    }

    private synchronized @Nullable Runnable nextDue() {
        return due.poll();
    }

    private synchronized void end() {
        runner = null;
        notifyAll();
        start(); // for what became due since
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return begin(new Timed<>(Executors.callable(task), 0), delay, unit);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return begin(new Timed<>(task, 0), delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initial, long delay, TimeUnit unit) {
        Runnable survivor = () -> runDespiteErrors(task);
        return begin(new Timed<>(Executors.callable(survivor), Math.max(1, unit.toNanos(delay))), initial, unit);
    }

    /** A shortage of threads or memory, or a class that can't be loaded now, must not end a loop silently. */
    private static void runDespiteErrors(Runnable task) {
        try {
            task.run();
        } catch (VirtualMachineError | LinkageError | AssertionError e) {
            LOG.atWarn().setCause(e).log("A periodic task ended with an error; it runs again when it is due");
        }
    }

    /** Not supported: after a pause of the process, missed tasks would follow one another. */
    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initial, long period, TimeUnit unit) {
        throw new UnsupportedOperationException("Use scheduleWithFixedDelay");
    }

    private synchronized <V> Timed<V> begin(Timed<V> task, long delay, TimeUnit unit) {
        if (isShutdown) {
            throw new RejectedExecutionException("The timer was shut down");
        }
        task.await(unit.toNanos(delay));
        return task;
    }

    @Override
    public void shutdown() {
        drop();
    }

    private synchronized List<Runnable> drop() {
        isShutdown = true;
        List.copyOf(waiting).forEach(task -> task.cancel(false));
        List<Runnable> left = List.copyOf(due);
        left.forEach(task -> ((FutureTask<?>) task).cancel(false));
        due.clear();
        notifyAll();
        return left;
    }

    @Override
    public synchronized List<Runnable> shutdownNow() {
        if (runner != null) {
            runner.interrupt();
        }
        return drop();
    }

    @Override
    public synchronized boolean isShutdown() {
        return isShutdown;
    }

    @Override
    public synchronized boolean isTerminated() {
        return isShutdown && runner == null;
    }

    @Override
    public synchronized boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long end = System.nanoTime() + unit.toNanos(timeout);
        for (long left = unit.toNanos(timeout); !isTerminated() && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return isTerminated();
    }

    /** A task that waits, or is due; one with a pause waits again after each run that does not fail. */
    private final class Timed<V> extends FutureTask<V> implements ScheduledFuture<V> {

        private final long pause;
        private volatile CompletableFuture<Void> wait = CompletableFuture.completedFuture(null);
        private volatile long at;

        Timed(Callable<V> task, long pause) {
            super(task);
            this.pause = pause;
        }

        void await(long nanos) {
            at = System.nanoTime() + Math.max(0, nanos);
            CompletableFuture<Void> next = clock.apply(nanos);
            waiting.add(this);
            wait = next;
            next.thenRun(this::isDue);
        }

        private void isDue() {
            synchronized (SparseTimer.this) {
                if (waiting.remove(this) && !isShutdown) {
                    execute(this);
                }
            }
        }

        @Override
        public void run() {
            if (pause == 0) {
                super.run();
            } else if (runAndReset()) {
                synchronized (SparseTimer.this) {
                    if (isShutdown) {
                        cancel(false);
                    } else {
                        await(pause);
                    }
                }
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean isCancelled = super.cancel(mayInterrupt);
            wait.cancel(false);
            synchronized (SparseTimer.this) {
                waiting.remove(this);
            }
            return isCancelled;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
