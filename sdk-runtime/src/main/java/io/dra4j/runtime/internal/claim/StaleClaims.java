// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims whose devices are not in use any more, though the journal holds them: of a crash, of an
 * earlier boot, of an unprepare that failed, or of one that the kubelet skips.
 *
 * <p>Before another claim takes a device of theirs they are unprepared, each under its own lock,
 * and none that an operation runs of. One that takes long goes on, and the other claim is refused.
 * A damaged claim of this boot is not among them: its containers may run. Thread-safe.
 */
final class StaleClaims {

    private static final Logger LOG = LoggerFactory.getLogger(StaleClaims.class);

    private final ClaimParts context;
    private final DeviceHolds holds;
    private final Unpreparation unpreparation;
    private final PresentAllocations present;

    StaleClaims(ClaimParts context, DeviceHolds holds, Unpreparation unpreparation) {
        this.context = context;
        this.holds = holds;
        this.unpreparation = unpreparation;
        this.present = new PresentAllocations(context);
    }

    /** Unprepares the stale claims that hold devices which a claim wants. */
    void unprepareConflicting(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
        Set<String> tried = new HashSet<>();
        Optional<ClaimRecord> next = conflicting(ref, devices, tried, deadline);
        while (next.isPresent()) {
            ClaimRecord found = next.get();
            String uid = found.ref().uid();
            tried.add(uid);
            unpreparation.unprepareIfIdle(
                    uid,
                    "stale, and another claim wants a device of it",
                    now -> isStale(now) || now.equals(found),
                    deadline,
                    deadline.left().dividedBy(3));
            next = conflicting(ref, devices, tried, deadline);
        }
    }

    private Optional<ClaimRecord> conflicting(
            ClaimRef ref, List<HeldDevice> devices, Set<String> tried, Deadline deadline) {
        if (context.journal().unsettled().stream()
                .noneMatch(record -> isStale(record) || record.isUnprepareSkipped())) {
            return Optional.empty();
        }
        return holds
                .conflict(
                        ref.uid(),
                        devices,
                        ClaimIndex.of(context.journal().claims()),
                        context.inventory().get().orElse(Inventory.of()))
                .stream()
                .flatMap(conflict -> conflict.holders().stream())
                .filter(holder -> !tried.contains(holder.ref().uid()))
                .filter(holder -> isStale(holder) || isOver(holder, deadline))
                .findFirst();
    }

    /** One that the kubelet asks to unprepare is over when it has. */
    private boolean isOver(ClaimRecord record, Deadline deadline) {
        try {
            return record.isUnprepareSkipped()
                    && present.isOver(record, deadline.left().dividedBy(3));
        } catch (ClusterException e) {
            LOG.atDebug()
                    .addKeyValue(LogField.CLAIM, record.ref())
                    .setCause(e)
                    .log("Could not check whether the claim is over");
            return false;
        }
    }

    private boolean isStale(ClaimRecord record) {
        return !context.isOfThisBoot(record)
                || record.phase() == Phase.PREPARING
                || record.phase() == Phase.UNPREPARING;
    }
}
