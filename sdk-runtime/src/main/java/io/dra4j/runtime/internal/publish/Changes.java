// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts changes, and those of them that are in the cluster; thread-safe. */
final class Changes {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition settled = lock.newCondition();
    // Guarded by lock. The start counts as a change.
    private long seen = 1;
    private long published;

    /** There was another change. */
    void more() {
        lock.lock();
        try {
            seen++;
        } finally {
            lock.unlock();
        }
    }

    /** Returns their number. */
    long seen() {
        lock.lock();
        try {
            return seen;
        } finally {
            lock.unlock();
        }
    }

    /** The cluster has so many of them. */
    void arePublished(long count) {
        lock.lock();
        try {
            published = count;
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the cluster has all of them. */
    boolean areAllPublished() {
        lock.lock();
        try {
            return published >= seen;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the cluster has all of them, and returns whether it does. */
    boolean awaitPublished(Duration limit) throws InterruptedException {
        long nanos = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (published < seen) {
                if (nanos <= 0) {
                    return false;
                }
                nanos = settled.awaitNanos(nanos);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
