// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unprepares claims that the kubelet will never ask for: force-deleted, or forgotten by it.
 *
 * <p>A claim is an orphan if two readings of the API server, ten minutes apart at least and with no other between them,
 * find that it is {@linkplain PresentAllocations over}; one minute is enough if the kubelet's own file is intact and
 * does not name the claim. A reading that fails counts for nothing. An orphan stays while an operation of it runs, or
 * the kubelet's file names it. Not thread-safe.
 */
final class Orphans {

    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);
    private static final Duration PACE = Duration.ofMinutes(5);
    private static final Duration LEAST_ABSENCE = Duration.ofMinutes(10);
    private static final Duration LEAST_IF_FORGOTTEN = Duration.ofMinutes(1);
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);
    private static final Duration END_LIMIT = Duration.ofSeconds(45);

    private final Journal journal;
    private final ClaimReader reader;
    private final Allocations allocations;
    private final PresentAllocations present;
    private final Unpreparation unpreparation;
    private final KubeletClaims kubelet;
    private final InstantSource clock;
    private final InstantSource nodeClock;
    private final Map<String, Instant> absentSince = new HashMap<>();
    private Instant next; // look at all claims
    private Instant nextAbsent = Instant.MAX; // look at those that were absent

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
        this.clock = clock;
        this.nodeClock = context.clock();
        this.next = clock.instant().plus(PACE);
    }

    /** Returns whether it is time to look. */
    boolean isDue() {
        Instant now = clock.instant();
        return !now.isBefore(next) || !now.isBefore(nextAbsent);
    }

    /** Looks, if it is time to. */
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
        List<ClaimRecord> claims = journal.claims();
        Set<String> held = new HashSet<>();
        claims.forEach(claim -> held.add(claim.ref().uid()));
        absentSince.keySet().retainAll(held);
        for (ClaimRecord claim : claims) {
            try {
                if (isForAll || absentSince.containsKey(claim.ref().uid())) {
                    judge(claim, now);
                }
            } catch (ClusterException e) {
                LOG.atDebug()
                        .addKeyValue(LogField.CLAIM, claim.ref())
                        .setCause(e)
                        .log("Could not check whether the claim is an orphan");
                if (e.isTransient()) { // no answer: for the others there would be none either
                    return;
                }
            }
        }
    }

    private void judge(ClaimRecord claim, Instant now) {
        String uid = claim.ref().uid();
        if (isWanted(claim)) {
            absentSince.remove(uid);
            return;
        }
        Instant since = absentSince.computeIfAbsent(uid, first -> now);
        boolean isForgotten = kubelet.lacks(uid);
        Duration least = isForgotten ? LEAST_IF_FORGOTTEN : LEAST_ABSENCE;
        if (Duration.between(since, now).compareTo(least) < 0) {
            nextAbsent = isForgotten ? now.plus(least) : nextAbsent;
            return;
        }
        if (kubelet.names(uid)) {
            LOG.atInfo()
                    .addKeyValue(LogField.CLAIM, claim.ref())
                    .log("An orphan is left to the kubelet, whose state names it");
            return;
        }
        unpreparation.unprepareIfIdle(
                uid,
                "the claim has had none of its devices for %s min, by the API server".formatted(least.toMinutes()),
                still -> still.equals(claim) && !kubelet.names(uid), // which names it before it is prepared again
                Deadline.in(END_LIMIT, nodeClock),
                END_LIMIT);
    }

    /** Throws if the API server gives no answer. */
    private boolean isWanted(ClaimRecord claim) {
        ClaimRef ref = claim.ref();
        if (LostClaims.isNameless(ref)) {
            return reader.readAll(READ_LIMIT).values().stream()
                    .anyMatch(known -> known.uid().equals(ref.uid()) && allocations.isAllocated(known));
        }
        return !present.isOver(claim, READ_LIMIT);
    }
}
