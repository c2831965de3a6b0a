// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * <p>A claim is an orphan if two readings of the API server, ten minutes apart at least and with no
 * other between them, find no claim of its UID; of a damaged one, also if they find that it is not
 * allocated to the driver any more, and of one whose unprepare the kubelet skips, that it is not
 * allocated as before. A reading that fails counts for nothing. An orphan stays while an operation
 * of it runs, or the kubelet's own file names it. Not thread-safe.
 */
final class Orphans {

    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);
    private static final Duration PACE = Duration.ofMinutes(5);
    private static final Duration LEAST_ABSENCE = Duration.ofMinutes(10);
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);
    private static final Duration END_LIMIT = Duration.ofSeconds(45);

    private final Journal journal;
    private final ClaimReader reader;
    private final Allocations allocations;
    private final PresentAllocations present;
    private final Unpreparation unpreparation;
    private final Path kubeletState;
    private final InstantSource clock;
    private final InstantSource nodeClock;
    private final Map<String, Instant> absentSince = new HashMap<>();
    private Instant next;

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
        // the data directory is <kubelet root>/plugins/<driver>
        this.kubeletState =
                context.dataDirectory().resolveSibling("..").normalize().resolve("dra_manager_state");
        this.clock = clock;
        this.nodeClock = context.clock();
        this.next = clock.instant().plus(PACE);
    }

    /** Looks, if it is time to. */
    void look() {
        Instant now = clock.instant();
        if (now.isBefore(next)) {
            return;
        }
        next = now.plus(PACE);
        List<ClaimRecord> claims = journal.claims();
        Set<String> held = new HashSet<>();
        claims.forEach(claim -> held.add(claim.ref().uid()));
        absentSince.keySet().retainAll(held);
        for (ClaimRecord claim : claims) {
            try {
                judge(claim, now);
            } catch (ClusterException e) {
                LOG.atDebug()
                        .addKeyValue(LogField.CLAIM, claim.ref())
                        .setCause(e)
                        .log("Could not check whether the claim is an orphan");
                if (e.status() == 0) { // no answer: for the others there would be none either
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
        if (Duration.between(since, now).compareTo(LEAST_ABSENCE) < 0) {
            return;
        }
        if (isKnownToKubelet(uid)) {
            LOG.atInfo()
                    .addKeyValue(LogField.CLAIM, claim.ref())
                    .log("An orphan is left to the kubelet, whose state names it");
            return;
        }
        unpreparation.unprepareIfIdle(
                uid,
                "the API server has not had the claim for %s minutes".formatted(LEAST_ABSENCE.toMinutes()),
                still -> still.equals(claim),
                Deadline.in(END_LIMIT, nodeClock),
                END_LIMIT);
    }

    /**
     * Returns whether the kubelet's own file names the claim, which is then its own to unprepare;
     * false if the file can't be read.
     *
     * @see <a
     *     href="https://github.com/kubernetes/kubernetes/tree/v1.36.2/pkg/kubelet/cm/dra/state">The
     *     file's format; each claim's UID stands in it as text</a>
     */
    private boolean isKnownToKubelet(String uid) {
        try {
            return Files.readString(kubeletState).contains(uid);
        } catch (IOException e) {
            return false; // most drivers' pods do not see the kubelet's own files
        }
    }

    /** Returns whether the API server has the claim; throws if the server gives no answer. */
    private boolean isWanted(ClaimRecord claim) {
        if (claim.isUnprepareSkipped()) {
            return !present.isOver(claim, READ_LIMIT);
        }
        ClaimRef ref = claim.ref();
        if (LostClaims.isNameless(ref)) {
            return reader.readAll(READ_LIMIT).values().stream()
                    .anyMatch(known -> known.uid().equals(ref.uid()) && allocations.isAllocated(known));
        }
        try {
            ClaimObject object = reader.read(ref, READ_LIMIT);
            return object.uid().equals(ref.uid())
                    && (claim.phase() != Phase.DAMAGED || allocations.isAllocated(object));
        } catch (ClusterException.NotFound e) {
            if (!e.isOfTheObject()) {
                throw e;
            }
            return false;
        }
    }
}
