// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The end of one step of a claim, on a monotonic clock.
 *
 * @param endNanos its end, by {@link System#nanoTime}
 */
record StepDeadline(Duration timeout, long endNanos) {

    /** The time reserved to report a failure before the kubelet gives up. */
    private static final Duration TO_REPORT = Duration.ofSeconds(2);

    /** Returns the end of a step that begins now, and ends before the call does. */
    static StepDeadline of(Duration limit, Instant callEnds, InstantSource clock) {
        Instant now = clock.instant();
        boolean isLimit = now.plus(limit).plus(TO_REPORT).isBefore(callEnds);
        Duration left = isLimit ? limit : Duration.between(now, callEnds).minus(TO_REPORT);
        Duration timeout = left.isNegative() ? Duration.ZERO : left;
        return new StepDeadline(timeout, System.nanoTime() + timeout.toNanos());
    }

    Duration left() {
        long nanos = endNanos - System.nanoTime();
        return nanos <= 0 ? Duration.ZERO : Duration.ofNanos(nanos);
    }

    boolean isOver() {
        return left().isZero();
    }

    /** Returns the step's time limit, for messages. */
    String text() {
        return timeout.toMillis() % 1000 == 0 ? timeout.toSeconds() + " s" : timeout.toMillis() + " ms";
    }
}
