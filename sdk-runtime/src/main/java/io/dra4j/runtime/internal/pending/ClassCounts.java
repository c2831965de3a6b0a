// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pending;

import io.dra4j.runtime.internal.cluster.PendingClaim;
import io.dra4j.runtime.internal.observe.ListedClaims;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Counts claims by the device classes that they name.
 *
 * <p>A claim may name a class that does not exist: whoever may create claims could make any number
 * of series. So the classes with the most claims have their own, and all others share one.
 */
record ClassCounts(Map<Key, Count> counts) {

    static final int MOST_CLASSES = 100;

    private record Key(String deviceClass, boolean forPod) {}

    private record Count(long claims, Instant oldest) {

        Count and(Count other) {
            return new Count(
                    claims + other.claims, oldest.isBefore(other.oldest) ? oldest : other.oldest);
        }
    }

    /** Counts each claim once for each class that it names. */
    static ClassCounts of(List<PendingClaim> claims) {
        Set<String> own = mostNamed(claims);
        Map<Key, Count> counts = new HashMap<>();
        for (PendingClaim claim : claims) {
            Set<String> shown = new HashSet<>();
            for (String name : claim.deviceClasses()) {
                shown.add(own.contains(name) ? name : ListedClaims.OTHER_CLASSES);
            }
            for (String name : shown) {
                counts.merge(
                        new Key(name, claim.forPod()), new Count(1, claim.created()), Count::and);
            }
        }
        return new ClassCounts(counts);
    }

    private static Set<String> mostNamed(List<PendingClaim> claims) {
        Map<String, Long> named =
                claims.stream()
                        .flatMap(claim -> claim.deviceClasses().stream())
                        .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
        Comparator<Map.Entry<String, Long>> order =
                Map.Entry.<String, Long>comparingByValue()
                        .reversed()
                        .thenComparing(Map.Entry.comparingByKey());
        return named.entrySet().stream()
                .sorted(order)
                .limit(MOST_CLASSES)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    /** Returns the counts with the ages at a moment: not below 0, where two clocks differ. */
    List<ListedClaims.OfClass> at(Instant now) {
        return counts.entrySet().stream()
                .map(
                        entry ->
                                new ListedClaims.OfClass(
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
