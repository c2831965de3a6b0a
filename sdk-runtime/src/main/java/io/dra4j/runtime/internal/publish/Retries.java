// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Schedules retries: after growing waits, or when the server requests.
 *
 * <p>Not thread-safe.
 */
final class Retries {

    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration LONGEST_REQUESTED = Duration.ofMinutes(5);
    private static final Duration AFTER_CHANGE = Duration.ofSeconds(2);

    private final Backoff waits;
    private Instant lastFailure = Instant.MIN;
    private Instant due = Instant.MIN;
    private int failures;
    private String reason = "";

    Retries(RandomGenerator random) {
        waits = new Backoff(FIRST, LONGEST, random);
    }

    /** Returns the time of the next attempt; in the past unless the last one failed. */
    Instant due() {
        return due;
    }

    /** Returns the number of attempts in a row that have failed. */
    int failures() {
        return failures;
    }

    /** Notes a failure; the wait that the server requested, if any, is added to our wait. */
    void failed(Instant now, @Nullable Duration requested) {
        Duration wait = waits.next();
        if (requested != null) {
            wait = wait.plus(requested.compareTo(LONGEST_REQUESTED) > 0 ? LONGEST_REQUESTED : requested);
        }
        failures++;
        lastFailure = now;
        due = now.plus(wait);
    }

    /** Returns whether an attempt failed for a different reason than the last one, if that failed. */
    boolean isNews(String now) {
        boolean isNews = !now.equals(reason);
        reason = now;
        return isNews;
    }

    void succeeded() {
        waits.reset();
        reason = "";
        failures = 0;
        due = Instant.MIN;
    }

    /** Brings the next attempt forward, because it has something new. */
    void somethingNew() {
        if (failures > 0) {
            Instant soon = lastFailure.plus(AFTER_CHANGE);
            due = soon.isBefore(due) ? soon : due;
        }
    }

    /** Growing waits: each up to twice as long as the one before, jittered, up to a cap. Not thread-safe. */
    static final class Backoff {

        private final Duration first;
        private final Duration cap;
        private final RandomGenerator random;
        private Duration next;

        Backoff(Duration first, Duration cap, RandomGenerator random) {
            this.first = first;
            this.cap = cap;
            this.random = random;
            this.next = first;
        }

        /** Returns how long to wait now: between half and all of the current step. */
        Duration next() {
            Duration step = next;
            Duration doubled = step.multipliedBy(2);
            next = doubled.compareTo(cap) > 0 ? cap : doubled;
            return Duration.ofMillis((long) (step.toMillis() * random.nextDouble(0.5, 1)));
        }

        void reset() {
            next = first;
        }
    }
}
