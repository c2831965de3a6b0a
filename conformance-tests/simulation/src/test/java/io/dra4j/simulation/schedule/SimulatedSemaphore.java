// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.concurrent.TimeUnit;

/** Replaces {@link java.util.concurrent.Semaphore}; waiting threads get permits in a random order. */
public final class SimulatedSemaphore {

    private int permits;

    public SimulatedSemaphore(int permits) {
        this.permits = permits;
    }

    public SimulatedSemaphore(int permits, boolean fair) {
        this(permits);
    }

    public void acquire() throws InterruptedException {
        tryAcquire(Strand.NEVER, TimeUnit.NANOSECONDS);
    }

    public void acquireUninterruptibly() {
        Simulation.yieldNow();
        Simulation.await(() -> permits > 0);
        permits--;
    }

    public boolean tryAcquire() {
        Simulation.yieldNow();
        return taken(permits > 0);
    }

    public boolean tryAcquire(long time, TimeUnit unit) throws InterruptedException {
        Strand strand = Simulation.strand();
        if (!Simulation.await(() -> permits > 0 || strand != null && strand.isInterrupted, unit.toNanos(time))) {
            return false;
        }
        if (strand != null && strand.isInterrupted) {
            strand.isInterrupted = false;
            throw new InterruptedException();
        }
        return taken(true);
    }

    private boolean taken(boolean isFree) {
        permits -= isFree ? 1 : 0;
        return isFree;
    }

    public void release() {
        permits++;
    }

    public int availablePermits() {
        return permits;
    }
}
