// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Replaces {@link java.util.concurrent.locks.ReentrantLock}, as far as the runtime uses it. */
public final class SimulatedLock {

    private @Nullable Strand owner;
    private int depth;

    public void lock() {
        Strand strand = Simulation.strand();
        if (owner != strand) {
            Simulation.yieldNow();
            Simulation.await(() -> owner == null);
        }
        owner = strand;
        depth++;
    }

    public boolean tryLock() {
        if (owner != Simulation.strand()) {
            Simulation.yieldNow();
        }
        boolean isFree = owner == null || owner == Simulation.strand();
        if (isFree) {
            owner = Simulation.strand();
            depth++;
        }
        return isFree;
    }

    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Strand strand = Hooks.strand();
        if (owner != strand && !Simulation.await(() -> owner == null || strand.isInterrupted, unit.toNanos(time))) {
            return false;
        }
        if (Hooks.interrupted()) {
            throw new InterruptedException();
        }
        owner = strand;
        depth++;
        return true;
    }

    /** Never throws, because a killed thread may not have acquired the lock. */
    public void unlock() {
        if (owner == Simulation.strand() && --depth == 0) {
            owner = null;
        }
    }

    public boolean isHeldByCurrentThread() {
        return owner == Simulation.strand();
    }
}
