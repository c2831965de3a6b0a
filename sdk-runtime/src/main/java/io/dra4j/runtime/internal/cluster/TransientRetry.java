// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Repeats one call after transient failures while time is left.
 *
 * <p>The kubelet waits 45 s for a prepare and comes back only 60 to 90 s after an error, so it is better to wait for a
 * short outage inside the call. No attempt may take all the remaining time: after one without an answer {@link
 * ApiClient} abandons all connections that were open, and the next attempt opens a new one. No attempt is repeated
 * without time for a response: its failure would hide the server's earlier response.
 */
record TransientRetry(InstantSource clock, Sleeper sleeper, RandomGenerator random) {
    private static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(10);
    private static final Duration SHORTEST_REPETITION = Duration.ofSeconds(1);
    private static final Duration FIRST_WAIT = Duration.ofMillis(100);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    /**
     * Calls until there is a response.
     *
     * @param deadline when to give up; one attempt is made in any case
     * @param attempt the call, given the time that it may take
     * @throws ClusterException the last failure, if it is permanent or there is no time left
     */
    <T> T until(Instant deadline, Function<Duration, T> attempt) {
        Duration wait = FIRST_WAIT;
        Instant begin = clock.instant();
        for (int attempts = 1; ; attempts++) {
            Duration left = Duration.between(clock.instant(), deadline);
            try {
                return attempt.apply(left.compareTo(LONGEST_ATTEMPT) < 0 ? left : LONGEST_ATTEMPT);
            } catch (ClusterException failure) {
                Duration pause = pause(failure, wait);
                if (!failure.isTransient()
                        || Thread.currentThread().isInterrupted()
                        || clock.instant().plus(pause).plus(SHORTEST_REPETITION).isAfter(deadline)) {
                    throw attempts == 1 ? failure : last(failure, attempts, begin);
                }
                sleep(pause, failure);
                wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait.multipliedBy(2);
            }
        }
    }

    /** Adds the whole time, since the last attempt may have had only a part of it. */
    private ClusterException last(ClusterException failure, int attempts, Instant begin) {
        return failure.isTransient()
                ? failure.with("; this was attempt %d in %s"
                        .formatted(attempts, seconds(Duration.between(begin, clock.instant()))))
                : failure;
    }

    static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
    }

    /** Returns between half and all of the wait, so that a cluster's nodes do not retry in lockstep. */
    private Duration pause(ClusterException failure, Duration wait) {
        Duration requested = failure.retryAfter();
        Duration jittered = Duration.ofMillis((long) (wait.toMillis() * random.nextDouble(0.5, 1)));
        return requested != null && requested.compareTo(jittered) > 0 ? requested : jittered;
    }

    private void sleep(Duration pause, ClusterException failure) {
        try {
            sleeper.sleep(pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure;
        }
    }

    interface Sleeper {
        void sleep(Duration pause) throws InterruptedException;
    }
}
