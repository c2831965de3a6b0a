// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.pending;

import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.Silence;
import io.dra4j.runtime.internal.observe.ListedClaims;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.tools.pending.PendingClaims.ClassCounts.Count;
import io.dra4j.tools.pending.PendingClaims.ClassCounts.Key;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pending claims of the cluster, listed on request, and not more often than
 * every 15 seconds, however many ask; a list that fails also counts.
 *
 * <p>One caller lists, and the others wait for it. If a list fails, there are no claims: those of an earlier list would
 * look current.
 */
final class PendingClaims implements Supplier<ListedClaims> {

    static final Duration VALID = Duration.ofSeconds(15);

    /** Prometheus cancels a scrape after 10 seconds by default, and would not see the failure. */
    static final Duration LIMIT = Duration.ofSeconds(8);

    /** Lists the claims that wait, of all namespaces. */
    @FunctionalInterface
    interface Source {

        /**
         * Passes on each claim as it arrives.
         *
         * @throws ClusterException if they can't be read in time
         */
        void list(Consumer<PendingClaim> claim, Duration limit);
    }

    private static final Logger LOG = LoggerFactory.getLogger(PendingClaims.class);

    private final Source source;
    private final InstantSource clock;
    private final Duration limit;

    private @Nullable Instant asked;
    private @Nullable ClassCounts counts;
    private volatile String problem = "";
    private long failures;

    /**
     * Creates a list that has not been read yet.
     *
     * @param limit the time that a list may take: {@link #LIMIT}, except in tests
     */
    PendingClaims(Source source, InstantSource clock, Duration limit) {
        this.source = source;
        this.clock = clock;
        this.limit = limit;
    }

    /** Returns the claims by class, with their ages at this moment. */
    @Override
    public synchronized ListedClaims get() {
        if (!Silence.isWithin(VALID, asked, clock.instant())) {
            list();
        }
        ClassCounts present = counts;
        return new ListedClaims(present == null ? List.of() : present.at(clock.instant()), failures);
    }

    private void list() {
        asked = clock.instant();
        counts = null;
        ClassTally tally = new ClassTally();
        try {
            source.list(tally::add, limit);
            counts = tally.counts();
            if (!problem.isEmpty()) {
                LOG.atInfo().log("Claims can be listed again");
            }
            problem = "";
        } catch (ClusterException e) {
            failures++;
            boolean isNew = problem.isEmpty();
            problem = String.valueOf(e.getMessage());
            if (isNew) {
                LOG.atWarn()
                        .addKeyValue(LogField.REASON, problem)
                        .log("Can't list claims; metrics of pending claims are missing until it succeeds");
            }
        }
    }

    /** Returns why the last list failed; empty if it did not. Never waits for a list. */
    String problem() {
        return problem;
    }

    /**
     * Counts claims by the device classes that they name, one claim after the other.
     *
     * <p>A claim may name about 250 classes that do not exist, and any user who may create claims could fill the heap
     * and create any number of series. So only a bounded number of names is kept, those of claims for pods apart from
     * the others; in the end the classes that most claims for pods name have their own series, and all others share
     * one.
     */
    static final class ClassTally {

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
}
