// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Replaces {@link java.util.concurrent.ScheduledThreadPoolExecutor} with one thread. */
public final class SimulatedTimer extends AbstractExecutorService implements ScheduledExecutorService {

    private final ThreadFactory threads;
    private final PriorityQueue<Task<?>> tasks =
            new PriorityQueue<>(Comparator.<Task<?>>comparingLong(t -> t.at).thenComparingLong(t -> t.number));
    private @Nullable Thread worker;
    private long made;
    private boolean isShut;
    private boolean keepsDelayed = true;

    public SimulatedTimer(int core, ThreadFactory threads) {
        this.threads = threads;
    }

    public void setRemoveOnCancelPolicy(boolean value) {}

    public void setExecuteExistingDelayedTasksAfterShutdownPolicy(boolean value) {
        keepsDelayed = value;
    }

    public void setKeepAliveTime(long time, TimeUnit unit) {}

    public void allowCoreThreadTimeOut(boolean value) {}

    /** A task, and when it is due. */
    private final class Task<T> extends FutureTask<T> implements RunnableScheduledFuture<T> {
        private final long period; // negative after the end of the run before, positive after its start
        private final long number = made++;
        private long at;

        Task(Callable<T> task, long delay, long period) {
            super(task);
            this.at = Simulation.nanoTime() + Math.max(0, delay);
            this.period = period;
        }

        @Override
        public boolean isPeriodic() {
            return period != 0;
        }

        @Override
        public void run() {
            if (!isPeriodic()) {
                super.run();
            } else if (runAndReset() && !isShut) {
                at = period > 0 ? at + period : Simulation.nanoTime() - period;
                tasks.add(this);
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            tasks.remove(this);
            return super.cancel(mayInterrupt);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - Simulation.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    private <T> Task<T> add(Task<T> task) {
        if (isShut) {
            throw new RejectedExecutionException("the timer is shut down");
        }
        tasks.add(task);
        if (worker == null) {
            worker = threads.newThread(this::work);
            Hooks.start(worker);
        }
        return task;
    }

    private void work() {
        try {
            while (!tasks.isEmpty()) {
                Simulation.await(this::isDue, untilDue());
                if (isDue()) {
                    tasks.remove().run();
                }
            }
        } finally {
            worker = null;
        }
    }

    private boolean isDue() {
        return tasks.isEmpty() ? isShut : tasks.element().at <= Simulation.nanoTime();
    }

    private long untilDue() {
        return tasks.isEmpty() ? 0 : tasks.element().at - Simulation.nanoTime();
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return add(new Task<>(Executors.callable(task), unit.toNanos(delay), 0));
    }

    @Override
    public <T> ScheduledFuture<T> schedule(Callable<T> task, long delay, TimeUnit unit) {
        return add(new Task<>(task, unit.toNanos(delay), 0));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
        return add(new Task<>(Executors.callable(task), unit.toNanos(first), unit.toNanos(period)));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long pause, TimeUnit unit) {
        return add(new Task<>(Executors.callable(task), unit.toNanos(first), -unit.toNanos(pause)));
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public void shutdown() {
        isShut = true;
        tasks.removeIf(task -> task.isPeriodic() || !keepsDelayed && task.at > Simulation.nanoTime());
    }

    @Override
    public List<Runnable> shutdownNow() {
        isShut = true;
        List<Runnable> left = new ArrayList<>(tasks);
        tasks.clear();
        if (worker != null) {
            Hooks.interrupt(worker);
        }
        return left;
    }

    @Override
    public boolean isShutdown() {
        return isShut;
    }

    @Override
    public boolean isTerminated() {
        return isShut && worker == null;
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) {
        return Simulation.await(this::isTerminated, unit.toNanos(time));
    }
}
