// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.thread;

import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Creates daemon threads on demand, which end soon: a driver is nearly always idle. */
public final class ShortLivedThreads {

    private static final int IDLE_SECONDS = 2;
    private static final int QUICK = 2;
    private static final int PATIENCE_MILLIS = 20;

    /** The release whose virtual threads leave their carrier while they wait for a lock (JEP 491). */
    private static final boolean HAS_VIRTUAL = Runtime.version().feature() >= 24;

    private static final ScheduledExecutorService CLOCK = newClock();

    private ShortLivedThreads() {}

    /**
     * Returns a pool of one thread per task, for tasks that mostly wait. It needs no shutdown.
     *
     * <p>The threads are virtual if the JVM has virtual threads: native code that blocks would stall all of them, and
     * belongs on the threads of {@link #ofNativeCode}.
     */
    public static ExecutorService waiting(String name) {
        return HAS_VIRTUAL ? virtual(name) : unlimited(name);
    }

    /**
     * Returns threads for calls that tasks of {@link #waiting} wait for: few for quick calls, as many as there are
     * tasks for slow ones. A task that finds {@value #QUICK} calls in progress waits for one of them; when none ends
     * for {@value #PATIENCE_MILLIS} ms, they count as slow from then on, and {@value #QUICK} others may run.
     */
    public static Executor ofNativeCode(String name) {
        if (!HAS_VIRTUAL) {
            return Runnable::run;
        }
        // A pool of several threads may let an idle one end that a task has just been queued for: the task would wait
        // for a slow one. A pool without a limit adds a thread while an ended one is not idle yet.
        ThreadFactory named = named(name);
        Deque<Executor> few = new ConcurrentLinkedDeque<>(); // those without a task
        IntStream.range(0, QUICK).forEach(i -> few.add(single(named)));
        Executor many = unlimited(name + "-slow");
        Turns turns = new Turns(new Semaphore(QUICK));
        return task -> {
            Object turn = turns.take();
            Executor free = few.poll(); // a slow task has left its turn, and keeps its thread
            Runnable end = () -> {
                if (free != null) {
                    few.push(free);
                }
                turns.end(turn);
            };
            boolean hasThread = false;
            try {
                (free == null ? many : free).execute(() -> {
                    try {
                        task.run();
                    } finally {
                        end.run();
                    }
                });
                hasThread = true;
            } finally {
                if (!hasThread) {
                    end.run();
                }
            }
        };
    }

    /** The turns of quick tasks. Thread-safe. */
    static final class Turns {

        private final Semaphore free;
        private final Set<Object> taken = ConcurrentHashMap.newKeySet();

        Turns(Semaphore free) {
            this.free = free;
        }

        /** Waits for a turn; when none has ended for a while, all turns are free again. An interrupt ends the wait. */
        Object take() {
            Object turn = new Object();
            try {
                List<Object> before = List.copyOf(taken);
                while (!free.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                    if (taken.containsAll(before)) {
                        before.forEach(this::end);
                    }
                    before = List.copyOf(taken);
                }
                taken.add(turn);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return turn;
        }

        /** Ends a turn, unless it was left to another. */
        void end(Object turn) {
            if (taken.remove(turn)) {
                free.release();
            }
        }
    }

    private static ExecutorService virtual(String name) {
        try {
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, virtualOnes(name));
        } catch (ReflectiveOperationException e) {
            throw noVirtual(e);
        }
    }

    /** Calls the API by reflection: it is in JDK 21, and this code is compiled for 17. */
    private static ThreadFactory virtualOnes(String name) {
        try {
            Class<?> builders = Class.forName("java.lang.Thread$Builder");
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            builders.getMethod("name", String.class, long.class).invoke(builder, name + "-", 1L);
            return (ThreadFactory) builders.getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw noVirtual(e);
        }
    }

    private static LinkageError noVirtual(ReflectiveOperationException e) {
        return new LinkageError("a JVM of release 24 has virtual threads", e);
    }

    /** Returns a pool of one thread per task. It needs no shutdown. */
    public static ExecutorService unlimited(String name) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), named(name));
    }

    public static ExecutorService single(String name) {
        return single(named(name));
    }

    private static ExecutorService single(ThreadFactory threads) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Returns the clock of all timeouts. Its tasks share one thread: they must not block. */
    public static ScheduledExecutorService clock() {
        return CLOCK;
    }

    /** Its thread never ends: a process that is out of threads could not start another. */
    private static ScheduledExecutorService newClock() {
        ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1, named("dra4j-clock"));
        clock.setRemoveOnCancelPolicy(true);
        clock.prestartCoreThread();
        return clock;
    }

    /**
     * Returns a future that completes after a time, on a thread that all such futures share; not one that was cancelled.
     *
     * <p>{@link CompletableFuture#completeOnTimeout} would do the same, with two threads.
     */
    public static CompletableFuture<Void> after(long nanos) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Future<?> due = CLOCK.schedule(() -> end.complete(null), Math.max(0, nanos), TimeUnit.NANOSECONDS);
        end.whenComplete((nothing, cancelled) -> due.cancel(false));
        return end;
    }

    /**
     * Returns a timer for periodic tasks; one task at a time.
     *
     * <p>It has a thread only while a task runs. After a shutdown no task starts. Fixed rates are not supported.
     */
    public static ScheduledExecutorService upkeep(String name) {
        return new SparseTimer(task -> daemon(task, name), ShortLivedThreads::after);
    }

    public static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> daemon(task, name + "-" + number.incrementAndGet());
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
