// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A loop whose time the test moves: nothing runs before {@link #advance}. */
public final class ManualLoop extends AbstractExecutorService implements ScheduledExecutorService, InstantSource {

    private static final int MOST_AT_ONCE = 100_000;

    private final List<Task> tasks = new ArrayList<>();
    private Instant now = Instant.parse("2026-11-21T00:00:00Z");
    private boolean shutdown;
    private boolean hangs;
    private int ran;

    /**
     * Runs what is due now and, as time goes on by so much, what becomes due.
     *
     * @throws AssertionError if tasks run again and again while no time passes
     */
    public void advance(Duration time) {
        Instant end = now.plus(time);
        int atOnce = 0;
        while (true) {
            Task due = tasks.stream()
                    .filter(task -> !task.at.isAfter(end))
                    .min(Comparator.comparing(task -> task.at))
                    .orElse(null);
            if (due == null) {
                now = end;
                return;
            }
            tasks.remove(due);
            atOnce = due.at.isAfter(now) ? 0 : atOnce + 1;
            if (atOnce > MOST_AT_ONCE) {
                throw new AssertionError("The loop spins at " + now);
            }
            now = due.at.isAfter(now) ? due.at : now;
            ran++;
            due.run();
        }
    }

    /** The number of tasks that have run. */
    public int ran() {
        return ran;
    }

    /** Lets the task that runs go on for ever. */
    public void hang() {
        hangs = true;
    }

    /** Drops what waits, as the end of a process does. */
    public void forget() {
        tasks.clear();
    }

    public int waiting() {
        return tasks.size();
    }

    @Override
    public Instant instant() {
        return now;
    }

    @Override
    public void execute(Runnable command) {
        tasks.add(new Task(command, now));
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        Task task = new Task(command, now.plus(Duration.of(delay, unit.toChronoUnit())));
        tasks.add(task);
        return task;
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void shutdown() {
        shutdown = true;
        tasks.clear();
    }

    @Override
    public List<Runnable> shutdownNow() {
        shutdown();
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isTerminated() {
        return shutdown;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return shutdown && !hangs;
    }

    private final class Task extends FutureTask<Void> implements ScheduledFuture<Void> {
        private final Instant at;

        Task(Runnable command, Instant at) {
            super(command, null);
            this.at = at;
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            tasks.remove(this);
            return super.cancel(mayInterrupt);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(Duration.between(now, at));
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
