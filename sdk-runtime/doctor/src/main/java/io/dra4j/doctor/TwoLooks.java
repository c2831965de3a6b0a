// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Checks something that changes while it is read, and reports only what is found twice.
 *
 * <p>Views that have to agree are read one after the other, so later ones are newer. If a look finds something,
 * everything is therefore read and checked again after a pause; what changed during the first look agrees by then.
 */
public final class TwoLooks {

    private static final long PAUSE_SECONDS = 3;

    private final Runnable pause;

    /** Looks again after three seconds. */
    public TwoLooks() {
        this(() -> LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(PAUSE_SECONDS)));
    }

    /**
     * Looks again after another pause.
     *
     * @param pause passes the time before the second look
     */
    public TwoLooks(Runnable pause) {
        this.pause = pause;
    }

    /**
     * Looks once, and again if something is found.
     *
     * @param look reads everything, and checks it
     * @return the report of the last look, with only the findings that were also in the first one; that of the first
     * look if the second fails. A check that found something in one look and could not run in the other counts as one
     * that could not run
     */
    public Report report(Supplier<Report> look) {
        Report first = look.get();
        if (first.findings().isEmpty()) {
            return first;
        }
        pause.run();
        Report second;
        try {
            second = look.get();
        } catch (RuntimeException e) { // must not lose what the first look found
            return first.foundOnce(String.valueOf(e.getMessage()));
        }
        return second.foundBefore(first);
    }
}
