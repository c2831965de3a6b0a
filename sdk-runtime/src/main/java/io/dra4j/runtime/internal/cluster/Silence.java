// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The time for which a watch has received nothing.
 *
 * <p>A server sends a bookmark about once a minute even if nothing happens, to a watch that asks for them. A connection
 * that hangs looks like a quiet one, and is treated as dead after a while. For one thread.
 */
public final class Silence {

    /** The time after which a silent watch is treated as dead. */
    public static final Duration LIMIT = Duration.ofSeconds(150);

    private final InstantSource clock;
    private Instant lastReceived;

    public Silence(InstantSource clock) {
        this.clock = clock;
        this.lastReceived = clock.instant();
    }

    /** Begins again: something was received. */
    public void broken() {
        lastReceived = clock.instant();
    }

    /** Returns the time at which the silence becomes too long; setting the clock back does not postpone it. */
    public Instant end() {
        Instant now = clock.instant();
        if (now.isBefore(lastReceived)) {
            lastReceived = now;
        }
        return lastReceived.plus(LIMIT);
    }

    public boolean isOver() {
        return !clock.instant().isBefore(end());
    }

    /** Returns whether less than a time has passed since an instant; setting the clock back postpones nothing. */
    public static boolean isWithin(Duration time, @Nullable Instant since, Instant now) {
        return since != null && !now.isBefore(since) && now.isBefore(since.plus(time));
    }
}
