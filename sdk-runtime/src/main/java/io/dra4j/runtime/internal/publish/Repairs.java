// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.runtime.internal.publish.Retries.Backoff;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * Schedules repairs of what another client undid: within half a second, and if that continues, less and less often:
 * after up to 30 s, or two seconds for each write of the last repair. So two clients that disagree never cause a storm
 * of writes.
 *
 * <p>Not thread-safe.
 */
final class Repairs {

    private static final Duration FIRST = Duration.ofMillis(500);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration QUIET = Duration.ofMinutes(2);
    private static final Duration FOR_EACH_WRITE = Duration.ofSeconds(2);
    private static final int FREE_REPAIRS = 3;

    private final Backoff waits;
    private Instant due = Instant.MIN;
    private Instant lastConflict = Instant.MIN;
    private Instant lastDone = Instant.EPOCH;
    private int lastWrites;
    private int repairs;

    Repairs(RandomGenerator random) {
        waits = new Backoff(FIRST, LONGEST, random);
    }

    /** Returns the time of the next repair; in the past unless something was undone. */
    Instant due() {
        return due;
    }

    /**
     * Notes that another client undid something.
     *
     * @return true if it has just become clear that they keep doing it
     */
    boolean undone(Instant now) {
        if (lastConflict.isBefore(now.minus(QUIET))) {
            waits.reset();
            repairs = 0;
        }
        lastConflict = now;
        if (due.isAfter(now)) {
            return false;
        }
        repairs++;
        Duration wait = waits.next();
        if (repairs > FREE_REPAIRS && earned().compareTo(wait) > 0) {
            wait = earned();
        }
        due = now.plus(wait);
        return repairs == FREE_REPAIRS + 1;
    }

    private Duration earned() {
        return FOR_EACH_WRITE.multipliedBy(Math.max(1, lastWrites));
    }

    /** Brings the next repair forward, for something new: to now, or as early as a conflict allows. */
    void somethingNew() {
        Instant soon = repairs > FREE_REPAIRS ? lastDone.plus(earned()) : Instant.EPOCH;
        due = soon.isBefore(due) ? soon : due;
    }

    /** Notes that all is reconciled, after a number of writes; quiet counts from the last of them. */
    void done(Instant now, int writes) {
        if (repairs > 0 && writes > 0) {
            lastConflict = now;
            lastDone = now;
            lastWrites = writes;
        }
    }
}
