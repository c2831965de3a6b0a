// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * When something that failed is tried again: after growing waits, or when the server asks to.
 *
 * <p>Not thread-safe.
 */
final class Retries {

    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration LONGEST_ASKED = Duration.ofMinutes(5);
    private static final Duration AFTER_CHANGE = Duration.ofSeconds(2);

    private final Backoff waits;
    private Instant lastFailure = Instant.MIN;
    private Instant due = Instant.MIN;
    private int failures;

    Retries(RandomGenerator random) {
        waits = new Backoff(FIRST, LONGEST, random);
    }

    /** When the next attempt is due; in the past unless the last one failed. */
    Instant due() {
        return due;
    }

    /** How many attempts in a row have failed. */
    int failures() {
        return failures;
    }

    /** An attempt failed; what the server asked to wait, if it did, comes on top of our wait. */
    void failed(Instant now, @Nullable Duration asked) {
        Duration wait = waits.next();
        if (asked != null) {
            wait = wait.plus(asked.compareTo(LONGEST_ASKED) > 0 ? LONGEST_ASKED : asked);
        }
        failures++;
        lastFailure = now;
        due = now.plus(wait);
    }

    void succeeded() {
        waits.reset();
        failures = 0;
        due = Instant.MIN;
    }

    /** The next attempt is about something new: it need not wait as long as the last one must. */
    void somethingNew() {
        if (failures > 0) {
            Instant soon = lastFailure.plus(AFTER_CHANGE);
            due = soon.isBefore(due) ? soon : due;
        }
    }
}
