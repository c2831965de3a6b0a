// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * When something that somebody else undid is put right: within half a second, and if that goes on,
 * less and less often: after up to 30 s, or two seconds for each write of the last repair. So two
 * who disagree never make a storm of it.
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

    /** When the next repair is due; in the past unless something was undone. */
    Instant due() {
        return due;
    }

    /**
     * Somebody else undid something.
     *
     * @return whether it has just become clear that they keep at it
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

    /** What is due is something new: it comes at once, or as soon as a fight allows. */
    void somethingNew() {
        Instant soon = repairs > FREE_REPAIRS ? lastDone.plus(earned()) : Instant.EPOCH;
        due = soon.isBefore(due) ? soon : due;
    }

    /** All is as it should be, after so many writes; quiet counts from the last of them. */
    void done(Instant now, int writes) {
        if (repairs > 0 && writes > 0) {
            lastConflict = now;
            lastDone = now;
            lastWrites = writes;
        }
    }
}
