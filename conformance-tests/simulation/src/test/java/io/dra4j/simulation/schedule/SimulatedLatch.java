// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.concurrent.TimeUnit;

/** Replaces {@link java.util.concurrent.CountDownLatch}. */
public final class SimulatedLatch {

    private int count;

    public SimulatedLatch(int count) {
        this.count = count;
    }

    public void countDown() {
        count = Math.max(0, count - 1);
    }

    public long getCount() {
        return count;
    }

    public void await() throws InterruptedException {
        await(Strand.NEVER, TimeUnit.NANOSECONDS);
    }

    public boolean await(long time, TimeUnit unit) throws InterruptedException {
        Strand strand = Simulation.strand();
        Simulation.await(() -> count == 0 || strand != null && strand.isInterrupted, unit.toNanos(time));
        if (count > 0 && strand != null && strand.isInterrupted) {
            strand.isInterrupted = false;
            throw new InterruptedException();
        }
        return count == 0;
    }
}
