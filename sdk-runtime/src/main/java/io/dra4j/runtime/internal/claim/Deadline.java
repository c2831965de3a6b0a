// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The deadline of an operation's caller.
 *
 * <p>It runs on the monotonic clock: a node that sets its time has no effect on it. A caller that
 * joins an operation extends its deadline. Thread-safe.
 */
final class Deadline {

    /** A monotonic clock, which does not follow changes of the node's time. */
    static final InstantSource MONOTONIC = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private final InstantSource clock;
    private final AtomicLong end; // in terms of System.nanoTime

    private Deadline(InstantSource clock, long end) {
        this.clock = clock;
        this.end = new AtomicLong(end);
    }

    /** Returns the deadline at a moment by the clock, as the clock goes now. */
    static Deadline at(Instant moment, InstantSource clock) {
        return new Deadline(
                clock,
                System.nanoTime() + Duration.between(clock.instant(), moment).toNanos());
    }

    /** Returns the deadline after a time. */
    static Deadline in(Duration time, InstantSource clock) {
        return new Deadline(clock, System.nanoTime() + time.toNanos());
    }

    /** Returns an earlier deadline. */
    Deadline before(Duration time) {
        return new Deadline(clock, end.get() - time.toNanos());
    }

    /** Returns the time left, zero if there is none. */
    Duration left() {
        return Duration.ofNanos(Math.max(0, end.get() - System.nanoTime()));
    }

    /** Returns the moment of the deadline by the clock, as the clock goes now. */
    Instant instant() {
        return clock.instant().plus(left());
    }

    /** Puts the deadline off, if the other one is later. */
    void extendTo(Deadline other) {
        end.accumulateAndGet(other.end.get(), (own, later) -> later - own > 0 ? later : own);
    }
}
