// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * When something may be written next: at once as a rule, later after failures or foreign hands.
 *
 * <p>Failures are tried again with growing waits, or when the server asks to. What somebody else
 * changed or deleted is put right within half a second; if that goes on, less and less often, so
 * that two who disagree never make a storm of it. Not thread-safe.
 */
final class Pace {

    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final Duration FIRST_REPAIR = Duration.ofMillis(500);
    private static final Duration LONGEST_REPAIR = Duration.ofSeconds(30);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);
    private static final Duration QUIET = Duration.ofMinutes(2);
    private static final Duration AFTER_CHANGE = Duration.ofSeconds(2);
    private static final Duration FOR_EACH_WRITE = Duration.ofSeconds(2);
    private static final int FREE_REPAIRS = 3;

    private final Backoff retries;
    private final Backoff repairs;
    private Instant notBefore = Instant.MIN;
    private Instant lastAttempt = Instant.MIN;
    private Instant lastTrouble = Instant.MIN;
    private Duration budget = Duration.ZERO;
    private int repairsInARow;

    Pace(RandomGenerator random) {
        retries = new Backoff(FIRST_RETRY, LONGEST_RETRY, random);
        repairs = new Backoff(FIRST_REPAIR, LONGEST_REPAIR, random);
    }

    /** When the next attempt is due. */
    Instant due() {
        return notBefore;
    }

    /** The next attempt is about something new: it need not wait as long as the last one must. */
    void somethingNew() {
        Instant soon =
                lastAttempt.equals(Instant.MIN) ? Instant.MIN : lastAttempt.plus(AFTER_CHANGE);
        notBefore = soon.isBefore(notBefore) ? soon : notBefore;
    }

    /** An attempt failed; the server asked to wait so long, or did not say. */
    void failed(Instant now, @Nullable Duration asked) {
        Duration wait = retries.next();
        if (asked != null && asked.compareTo(wait) > 0) {
            wait = asked.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : asked;
        }
        lastAttempt = now;
        notBefore = now.plus(wait);
    }

    /** All is as it should be, after so many writes. */
    void succeeded(Instant now, int writes) {
        retries.reset();
        lastAttempt = now;
        notBefore = Instant.MIN;
        if (repairsInARow > 0 && writes > 0) {
            lastTrouble = now;
            budget = FOR_EACH_WRITE.multipliedBy(writes);
        }
    }

    /**
     * Somebody else changed or deleted something.
     *
     * @return whether it has just become clear that they keep at it
     */
    boolean disturbed(Instant now) {
        if (lastTrouble.isBefore(now.minus(QUIET))) {
            repairs.reset();
            repairsInARow = 0;
        }
        lastTrouble = now;
        if (notBefore.isAfter(now)) {
            return false;
        }
        repairsInARow++;
        Duration wait = repairs.next();
        if (repairsInARow > FREE_REPAIRS && budget.compareTo(wait) > 0) {
            wait = budget.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : budget;
        }
        notBefore = now.plus(wait);
        return repairsInARow == FREE_REPAIRS + 1;
    }
}
