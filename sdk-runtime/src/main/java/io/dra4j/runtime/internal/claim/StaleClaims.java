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
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims whose devices are not in use any more, though the journal holds them: of a crash, of an
 * earlier boot, of an unprepare that failed, or of one that the kubelet skips.
 *
 * <p>Before another claim takes a device of theirs they are unprepared, each under its own lock,
 * and none that an operation runs of. One that takes long goes on, and the other claim is refused.
 * A damaged claim of this boot is not among them: its containers may run. A prepared one is, if the
 * kubelet has forgotten it, and the API server has given its devices away. Thread-safe.
 */
final class StaleClaims {

    private static final Logger LOG = LoggerFactory.getLogger(StaleClaims.class);

    private final ClaimParts context;
    private final DeviceHolds holds;
    private final Unpreparation unpreparation;
    private final PresentAllocations present;
    private final KubeletClaims kubelet;

    StaleClaims(ClaimParts context, DeviceHolds holds, Unpreparation unpreparation) {
        this.context = context;
        this.holds = holds;
        this.unpreparation = unpreparation;
        this.present = new PresentAllocations(context);
        this.kubelet = new KubeletClaims(context.dataDirectory());
    }

    /** Unprepares the stale claims that hold devices which a claim wants. */
    void unprepareConflicting(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
        if (context.journal().unsettled().stream().anyMatch(record -> isStale(record) || record.isUnprepareSkipped())) {
            unprepareHolders(
                    ref,
                    devices,
                    deadline,
                    "stale, and another claim wants a device of it",
                    holder -> isStale(holder) || isOver(holder, deadline));
        }
    }

    /**
     * Unprepares the claims of this boot that hold devices which a claim wants, though the kubelet
     * has forgotten them and they are over.
     *
     * @return whether any was unprepared
     * @throws ClusterException if the API server gives no answer on one that is forgotten
     */
    boolean unprepareForgotten(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
        return unprepareHolders(
                ref,
                devices,
                deadline,
                "the kubelet has forgotten it, and another claim was allocated a device of it",
                holder -> isForgotten(holder) && present.isOver(holder, third(deadline)));
    }

    private boolean unprepareHolders(
            ClaimRef ref, List<HeldDevice> devices, Deadline deadline, String why, Predicate<ClaimRecord> isToGo) {
        boolean isAnyGone = false;
        Set<String> tried = new HashSet<>();
        Optional<ClaimRecord> next = holder(ref, devices, tried, isToGo);
        while (next.isPresent()) {
            ClaimRecord found = next.get();
            String uid = found.ref().uid();
            tried.add(uid);
            isAnyGone |= unpreparation.unprepareIfIdle(
                    uid,
                    why,
                    now -> isStale(now) || now.equals(found) && (now.isUnprepareSkipped() || isForgotten(now)),
                    deadline,
                    third(deadline));
            next = holder(ref, devices, tried, isToGo);
        }
        return isAnyGone;
    }

    private Optional<ClaimRecord> holder(
            ClaimRef ref, List<HeldDevice> devices, Set<String> tried, Predicate<ClaimRecord> isToGo) {
        return holds
                .conflict(
                        ref.uid(),
                        devices,
                        ClaimIndex.of(context.journal().claims()),
                        context.inventory().get().orElse(Inventory.of()))
                .stream()
                .flatMap(conflict -> conflict.holders().stream())
                .filter(holder -> !tried.contains(holder.ref().uid()))
                .filter(isToGo)
                .findFirst();
    }

    private static Duration third(Deadline deadline) {
        return deadline.left().dividedBy(3);
    }

    /** The kubelet names a claim before it asks for it: none that is prepared again is forgotten. */
    private boolean isForgotten(ClaimRecord record) {
        return context.isPrepared(record) && kubelet.lacks(record.ref().uid());
    }

    /** One that the kubelet asks to unprepare is over when it has. */
    private boolean isOver(ClaimRecord record, Deadline deadline) {
        try {
            return record.isUnprepareSkipped() && present.isOver(record, third(deadline));
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
