// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits for what another process or thread does, and gives no event for. */
public final class Await {

    /** Holds, or does not yet. */
    @FunctionalInterface
    public interface Condition<E extends Exception> {
        boolean holds() throws E;
    }

    private static final long LOOK_NANOS = 10_000_000;

    private Await() {}

    /**
     * Waits until a condition holds, and fails if it does not within a time.
     *
     * @param what what is awaited, for the failure
     */
    public static <E extends Exception> void until(String what, Duration limit, Condition<E> condition) throws E {
        long start = System.nanoTime();
        while (!condition.holds()) {
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("awaited: %s", what)
                    .isLessThan(limit);
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }
}
