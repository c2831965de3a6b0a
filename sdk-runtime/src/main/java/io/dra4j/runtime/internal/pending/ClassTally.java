// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pending;

import io.dra4j.runtime.internal.cluster.PendingClaim;
import io.dra4j.runtime.internal.observe.ListedClaims;
import io.dra4j.runtime.internal.pending.ClassCounts.Count;
import io.dra4j.runtime.internal.pending.ClassCounts.Key;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts claims by the device classes that they name, one claim after the other.
 *
 * <p>A claim may name some 250 classes that do not exist, and anybody who may create claims could
 * fill the heap and make any number of series. So a bounded number of names is kept meanwhile,
 * those of claims for pods apart from the others; in the end the classes that most claims for pods
 * name have series of their own, and all others share one.
 */
final class ClassTally {

    static final int MOST_CLASSES = 100;
    static final int MOST_NAMES = 1000;

    private final Map<String, Count> ofPods = new HashMap<>();
    private final Map<String, Count> ofOthers = new HashMap<>();

    /** Counts a claim once for each class that it names. */
    void add(PendingClaim claim) {
        Map<String, Count> counts = claim.forPod() ? ofPods : ofOthers;
        Count one = new Count(1, claim.created());
        for (String name : claim.deviceClasses()) {
            boolean isKept = counts.size() < MOST_NAMES || counts.containsKey(name);
            counts.merge(isKept ? name : ListedClaims.OTHER_CLASSES, one, Count::and);
        }
    }

    /** Returns the counts of the claims so far. */
    ClassCounts counts() {
        Set<String> own = own();
        Map<Key, Count> shown = new HashMap<>();
        merge(shown, ofPods, true, own);
        merge(shown, ofOthers, false, own);
        return new ClassCounts(shown);
    }

    private static void merge(Map<Key, Count> shown, Map<String, Count> counts, boolean forPod, Set<String> own) {
        counts.forEach((name, count) -> shown.merge(
                new Key(own.contains(name) ? name : ListedClaims.OTHER_CLASSES, forPod), count, Count::and));
    }

    private Set<String> own() {
        Comparator<String> byPods = Comparator.comparingLong(name -> claims(ofPods, name));
        Comparator<String> byOthers = Comparator.comparingLong(name -> claims(ofOthers, name));
        return Stream.concat(ofPods.keySet().stream(), ofOthers.keySet().stream())
                .distinct()
                .filter(name -> !name.equals(ListedClaims.OTHER_CLASSES))
                .sorted(byPods.thenComparing(byOthers).reversed().thenComparing(Comparator.naturalOrder()))
                .limit(MOST_CLASSES)
                .collect(Collectors.toSet());
    }

    private static long claims(Map<String, Count> counts, String name) {
        Count count = counts.get(name);
        return count == null ? 0 : count.claims();
    }
}
