// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.time.Instant;

/**
 * Lets ten things happen at once and then one a second, for providers that change all the time.
 *
 * <p>Not thread-safe.
 */
final class Throttle {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration BURST = INTERVAL.multipliedBy(9);

    private Instant paidUntil = Instant.EPOCH;

    /** Returns the time when the next may happen. */
    Instant due() {
        return paidUntil.minus(BURST);
    }

    /** One happens. */
    void used(Instant now) {
        paidUntil = (paidUntil.isAfter(now) ? paidUntil : now).plus(INTERVAL);
    }
}
