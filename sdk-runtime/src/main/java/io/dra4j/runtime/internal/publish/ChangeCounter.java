// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Counts changes, and those of them that are in the cluster; thread-safe. */
final class ChangeCounter {

    // Guarded by this. The start counts as a change.
    private long seen = 1;
    private long published;

    /** Counts a change. */
    synchronized void more() {
        seen++;
    }

    /** Returns their number. */
    synchronized long seen() {
        return seen;
    }

    /** Notes that the cluster has this number of changes. */
    synchronized void arePublished(long count) {
        published = count;
        notifyAll();
    }

    /** Returns whether the cluster has all of them. */
    synchronized boolean areAllPublished() {
        return published >= seen;
    }

    /** Waits until the cluster has all of them, and returns whether it does. */
    synchronized boolean awaitPublished(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!areAllPublished()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
