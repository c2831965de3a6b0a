// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Growing waits: each up to twice as long as the one before, jittered, up to a cap. Not thread-safe. */
final class Backoff {

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

    /** Returns how long to wait now: between half and all of the present step. */
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
