// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Replaces {@link java.util.concurrent.ThreadPoolExecutor}: threads start when needed, and end when idle. */
public final class SimulatedPool extends AbstractExecutorService {

    private final int most;
    private final BlockingQueue<Runnable> queue;
    private final ThreadFactory threads;
    private final List<Thread> working = new ArrayList<>();
    private boolean isShut;

    @SuppressWarnings("unused") // like the JDK's class
    public SimulatedPool(
            int core, int most, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, ThreadFactory threads) {
        this.most = most;
        this.queue = queue;
        this.threads = threads;
    }

    static SimulatedPool of(int most, String name) {
        return new SimulatedPool(
                0, most, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> new Thread(task, name));
    }

    public BlockingQueue<Runnable> getQueue() {
        return queue;
    }

    public void allowCoreThreadTimeOut(boolean value) {}

    @Override
    public void execute(Runnable task) {
        if (isShut || !queue.offer(task)) {
            throw new RejectedExecutionException("the pool is shut down or full");
        }
        if (working.size() < most) {
            Thread[] self = new Thread[1];
            self[0] = threads.newThread(() -> work(self[0]));
            working.add(self[0]);
            Hooks.start(self[0]);
        }
    }

    private void work(Thread self) {
        try {
            for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
                task.run();
            }
        } finally {
            working.remove(self);
        }
    }

    @Override
    public void shutdown() {
        isShut = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        isShut = true;
        List<Runnable> left = new ArrayList<>(queue);
        queue.clear();
        List.copyOf(working).forEach(Hooks::interrupt);
        return left;
    }

    @Override
    public boolean isShutdown() {
        return isShut;
    }

    @Override
    public boolean isTerminated() {
        return isShut && working.isEmpty();
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        Strand strand = Simulation.strand();
        Simulation.await(() -> isTerminated() || strand != null && strand.isInterrupted, unit.toNanos(time));
        if (!isTerminated() && Hooks.interrupted()) {
            throw new InterruptedException();
        }
        return isTerminated();
    }
}
