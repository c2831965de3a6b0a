// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unprepares claims that the kubelet will never ask for: force-deleted, or forgotten by it.
 *
 * <p>A claim is an orphan if two consecutive readings of the API server, at least ten minutes apart, find that it is
 * {@linkplain PresentAllocations over}; one minute is enough if the kubelet's own file is intact and does not name the
 * claim. A reading that fails is ignored. An orphan stays while an operation on it runs.
 *
 * <p>The API server of a large cluster has a hundred thousand claims: a claim that the kubelet's file names is not
 * read, since the kubelet will ask for it. Of the others, eight are read every five minutes, with those that were
 * absent: first those that caused the refusal of another claim, then those not read for the longest time. Those of
 * which only the UID is known share one list of all claims. Not thread-safe, except for {@link #noteInTheWay}.
 */
final class Orphans {

    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);
    private static final Duration PACE = Duration.ofMinutes(5);
    private static final int MOST_READ = 8; // nodes usually have as many GPUs
    private static final Duration LEAST_ABSENCE = Duration.ofMinutes(10);
    private static final Duration LEAST_IF_FORGOTTEN = Duration.ofMinutes(1);
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);
    private static final Duration LIST_LIMIT = Duration.ofMinutes(2);
    private static final Duration END_LIMIT = Duration.ofSeconds(45);

    private final Journal journal;
    private final ClaimReader reader;
    private final Allocations allocations;
    private final PresentAllocations present;
    private final Unpreparation unpreparation;
    private final KubeletClaims kubelet;
    private final ProviderCalls calls; // reading the kubelet's file may hang
    private final InstantSource clock;
    private final InstantSource nodeClock;
    private final Map<String, Instant> absentSince = new HashMap<>();
    private final Map<String, Instant> lastRead = new HashMap<>();
    private final Set<String> inTheWay = ConcurrentHashMap.newKeySet();
    private @Nullable Set<String> listed; // in this look, of the claims held
    private Instant next; // read some of all claims
    private Instant nextAbsent = Instant.MAX; // read claims that were absent

    /**
     * Looks for orphans.
     *
     * @param clock a monotonic one
     */
    Orphans(ClaimParts context, Unpreparation unpreparation, InstantSource clock) {
        this.journal = context.journal();
        this.reader = context.reader();
        this.allocations = new Allocations(context.driver(), List.of());
        this.present = new PresentAllocations(context);
        this.unpreparation = unpreparation;
        this.kubelet = new KubeletClaims(context.dataDirectory());
        this.calls = context.providerCalls();
        this.clock = clock;
        this.nodeClock = context.clock();
        this.next = clock.instant().plus(PACE);
    }

    boolean isDue() {
        Instant now = clock.instant();
        return !now.isBefore(next) || !now.isBefore(nextAbsent);
    }

    /** Notes that another claim was refused because of a claim, which is then among the first to be read. */
    void noteInTheWay(String uid) {
        inTheWay.add(uid);
    }

    /** Looks for orphans, if it is time. */
    void look() {
        if (!isDue()) {
            return;
        }
        Instant now = clock.instant();
        boolean isForAll = !now.isBefore(next);
        nextAbsent = Instant.MAX;
        if (isForAll) {
            next = now.plus(PACE);
        }
        listed = null;
        List<ClaimRecord> due = due(isForAll ? MOST_READ : 0);
        due.stream()
                .filter(Orphans::isNameless)
                .forEach(claim -> lastRead.put(claim.ref().uid(), now)); // even if their list never succeeds
        Predicate<String> forgotten = calls.apart(kubelet::lacking); // read once: many may be due
        for (ClaimRecord claim : due) {
            try {
                judge(claim, now, forgotten);
            } catch (ClusterException e) {
                LOG.atDebug()
                        .addKeyValue(LogField.CLAIM, claim.ref())
                        .setCause(e)
                        .log("Could not check whether the claim is an orphan");
                if (e.isTransient()) { // no answer: the others would get none either
                    return;
                }
            }
            lastRead.put(claim.ref().uid(), now);
        }
    }

    /** Returns the claims that were absent, and some others, of all that the kubelet's file does not name. */
    private List<ClaimRecord> due(int others) {
        Map<String, ClaimRecord> held = new HashMap<>();
        journal.claims().forEach(claim -> held.put(claim.ref().uid(), claim));
        held.keySet().removeIf(calls.apart(kubelet::named));
        absentSince.keySet().retainAll(held.keySet());
        lastRead.keySet().retainAll(held.keySet());
        Set<String> first = Set.copyOf(inTheWay);
        if (others > 0) {
            inTheWay.removeAll(first); // refused again, another claim notes it again
        }
        Stream<String> oldest = held.keySet().stream()
                .filter(uid -> !absentSince.containsKey(uid))
                .sorted(Comparator.<String, Boolean>comparing(uid -> !first.contains(uid))
                        .thenComparing(uid -> lastRead.getOrDefault(uid, Instant.MIN)))
                .limit(others);
        return Stream.concat(List.copyOf(absentSince.keySet()).stream(), oldest)
                .map(held::get)
                .sorted(Comparator.comparing(Orphans::isNameless)) // last: their list takes long
                .toList();
    }

    private void judge(ClaimRecord claim, Instant now, Predicate<String> forgotten) {
        String uid = claim.ref().uid();
        if (isWanted(claim)) {
            absentSince.remove(uid);
            return;
        }
        Instant since = absentSince.computeIfAbsent(uid, first -> now);
        boolean isForgotten = forgotten.test(uid);
        Duration least = isForgotten ? LEAST_IF_FORGOTTEN : LEAST_ABSENCE;
        if (Duration.between(since, now).compareTo(least) < 0) {
            nextAbsent = isForgotten ? now.plus(least) : nextAbsent;
            return;
        }
        unpreparation.unprepareIfIdle(
                uid,
                "according to the API server, the claim has had none of its devices for %s min"
                        .formatted(least.toMinutes()),
                still -> still.equals(claim)
                        && !calls.apart(() -> kubelet.names(uid)), // which names it before it is prepared again
                Deadline.in(END_LIMIT, nodeClock),
                END_LIMIT);
    }

    /** Throws if the API server does not answer. */
    private boolean isWanted(ClaimRecord claim) {
        return isNameless(claim) ? isListed(claim.ref().uid()) : !present.isOver(claim, READ_LIMIT);
    }

    private static boolean isNameless(ClaimRecord claim) {
        return LostClaims.isNameless(claim.ref());
    }

    private boolean isListed(String uid) {
        if (listed == null) {
            Set<String> uids = new HashSet<>();
            reader.readAll(LIST_LIMIT, (any, known) -> {
                if (lastRead.containsKey(known.uid()) && allocations.isAllocated(known)) {
                    uids.add(known.uid());
                }
            });
            listed = uids;
        }
        return listed.contains(uid);
    }
}
