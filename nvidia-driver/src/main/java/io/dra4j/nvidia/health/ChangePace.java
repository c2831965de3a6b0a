// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Passes on that devices have changed: the first time at once, then at most once in an interval, so
 * that many errors are few writes to the cluster. Used by one thread.
 */
final class ChangePace {

    private final Runnable changed;
    private final Duration interval;
    private final InstantSource clock;
    private Instant last = Instant.EPOCH;
    private boolean pending;

    ChangePace(Runnable changed, Duration interval, InstantSource clock) {
        this.changed = changed;
        this.interval = interval;
        this.clock = clock;
    }

    void changed() {
        pending = true;
        passOn();
    }

    /** Passes on what had to wait, if it is time to. */
    void passOn() {
        Instant now = clock.instant();
        // a clock that was set back makes nothing wait longer
        boolean mustWait = now.isBefore(last.plus(interval)) && !now.isBefore(last);
        if (pending && !mustWait) {
            pending = false;
            last = now;
            changed.run();
        }
    }
}
