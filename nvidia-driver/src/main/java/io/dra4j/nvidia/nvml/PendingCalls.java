// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The calls that have not returned yet, with their starts. Thread-safe, and never waits. */
final class PendingCalls {

    private final InstantSource clock;
    private final Map<Object, Instant> starts = new ConcurrentHashMap<>(); // a key for each call

    PendingCalls(InstantSource clock) {
        this.clock = clock;
    }

    /** Makes a call, which is pending until it returns or throws. */
    <T> T make(Supplier<T> call) {
        Object key = new Object();
        starts.put(key, clock.instant());
        try {
            return call.get();
        } finally {
            starts.remove(key);
        }
    }

    /** Returns the start of the call that has been pending for longest. */
    Optional<Instant> oldest() {
        return starts.values().stream().min(Comparator.naturalOrder());
    }
}
