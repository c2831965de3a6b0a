// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Replaces {@link io.dra4j.runtime.internal.thread.ShortLivedThreads}. */
public final class SimulatedThreads {

    private SimulatedThreads() {}

    public static ExecutorService waiting(String name) {
        return unlimited(name);
    }

    public static Executor ofNativeCode(String name) {
        return unlimited(name);
    }

    public static ExecutorService unlimited(String name) {
        return SimulatedPool.of(Integer.MAX_VALUE, name);
    }

    public static ExecutorService single(String name) {
        return SimulatedPool.of(1, name);
    }

    public static CompletableFuture<Void> after(long nanos) {
        return Hooks.completeOnTimeout(new CompletableFuture<>(), null, Math.max(0, nanos), TimeUnit.NANOSECONDS);
    }

    public static ScheduledExecutorService timer(String name) {
        return new SimulatedTimer(1, named(name));
    }

    public static ScheduledExecutorService upkeep(String name) {
        SimulatedTimer timer = new SimulatedTimer(1, named(name));
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return timer;
    }

    public static ThreadFactory named(String name) {
        return task -> new Thread(task, name);
    }
}
