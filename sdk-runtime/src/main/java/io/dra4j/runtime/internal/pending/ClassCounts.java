// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pending;

import io.dra4j.runtime.internal.observe.ListedClaims;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The number of claims that name each device class, and when the oldest of them was created. */
record ClassCounts(Map<Key, Count> counts) {

    record Key(String deviceClass, boolean forPod) {}

    record Count(long claims, Instant oldest) {

        Count and(Count other) {
            return new Count(claims + other.claims, oldest.isBefore(other.oldest) ? oldest : other.oldest);
        }
    }

    /** Returns the counts with the ages at a moment: not below 0, where two clocks differ. */
    List<ListedClaims.OfClass> at(Instant now) {
        return counts.entrySet().stream()
                .map(entry -> new ListedClaims.OfClass(
                        entry.getKey().deviceClass(),
                        entry.getKey().forPod(),
                        entry.getValue().claims(),
                        age(entry.getValue().oldest(), now)))
                .toList();
    }

    private static Duration age(Instant created, Instant now) {
        return created.isBefore(now) ? Duration.between(created, now) : Duration.ZERO;
    }
}
