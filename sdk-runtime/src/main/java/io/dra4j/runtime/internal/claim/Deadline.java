// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The deadline of an operation's caller, who may leave earlier.
 *
 * <p>It uses the monotonic clock: a change of the node's time does not affect it. A caller that
 * joins an operation extends its deadline. Thread-safe.
 */
final class Deadline {

    /** A monotonic clock, which does not follow changes of the node's time. */
    static final InstantSource MONOTONIC = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private final InstantSource clock;
    private final AtomicLong end; // in terms of System.nanoTime
    private final List<BooleanSupplier> haveLeft = new CopyOnWriteArrayList<>(); // of each caller

    private Deadline(InstantSource clock, long end) {
        this.clock = clock;
        this.end = new AtomicLong(end);
    }

    /** Returns the deadline at an instant of the clock's current time. */
    static Deadline at(Instant moment, InstantSource clock) {
        return new Deadline(
                clock,
                System.nanoTime() + Duration.between(clock.instant(), moment).toNanos());
    }

    /** Returns the deadline of a caller who has left once the condition holds. */
    static Deadline at(Instant moment, InstantSource clock, BooleanSupplier hasLeft) {
        Deadline deadline = at(moment, clock);
        deadline.haveLeft.add(hasLeft);
        return deadline;
    }

    static Deadline in(Duration time, InstantSource clock) {
        return new Deadline(clock, System.nanoTime() + time.toNanos());
    }

    Deadline before(Duration time) {
        return new Deadline(clock, end.get() - time.toNanos());
    }

    /** Returns the time left, zero if there is none. */
    Duration left() {
        return Duration.ofNanos(Math.max(0, end.get() - System.nanoTime()));
    }

    /** Returns the instant of the deadline in the clock's current time, also after it has passed. */
    Instant instant() {
        return clock.instant().plusNanos(end.get() - System.nanoTime());
    }

    /** Returns whether a caller waits: the time is not over, and not all have left. */
    boolean isAwaited() {
        return !left().isZero()
                && (haveLeft.isEmpty() || haveLeft.stream().anyMatch(hasLeft -> !hasLeft.getAsBoolean()));
    }

    /** Extends the deadline to the other one, if that is later, for the callers of both. */
    void extendTo(Deadline other) {
        haveLeft.removeIf(BooleanSupplier::getAsBoolean); // an operation that hangs is joined without end
        haveLeft.addAll(other.haveLeft);
        end.accumulateAndGet(other.end.get(), (own, later) -> later - own > 0 ? later : own);
    }
}
