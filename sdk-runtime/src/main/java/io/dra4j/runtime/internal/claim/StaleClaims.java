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
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Claims whose devices are not in use any more, though the journal holds them: of a crash, of an
 * earlier boot, or of an unprepare that failed.
 *
 * <p>Before another claim takes a device of theirs they are unprepared, each under its own lock,
 * and none that an operation runs of. One that takes long goes on, and the other claim is refused.
 * A damaged claim of this boot is not among them: its containers may run. Thread-safe.
 */
final class StaleClaims {

    private final ClaimParts context;
    private final DeviceHolds holds;
    private final Unpreparation unpreparation;

    StaleClaims(ClaimParts context, DeviceHolds holds, Unpreparation unpreparation) {
        this.context = context;
        this.holds = holds;
        this.unpreparation = unpreparation;
    }

    /** Unprepares the stale claims that hold devices which a claim wants. */
    void unprepareConflicting(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
        Set<String> tried = new HashSet<>();
        Optional<ClaimRecord> next = conflicting(ref, devices, tried);
        while (next.isPresent()) {
            String uid = next.get().ref().uid();
            tried.add(uid);
            unpreparation.unprepareIfIdle(
                    uid,
                    "stale, and another claim wants a device of it",
                    this::isStale,
                    deadline,
                    deadline.left().dividedBy(3));
            next = conflicting(ref, devices, tried);
        }
    }

    private Optional<ClaimRecord> conflicting(
            ClaimRef ref, List<HeldDevice> devices, Set<String> tried) {
        if (context.journal().unsettled().stream().noneMatch(this::isStale)) {
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
                .filter(holder -> isStale(holder) && !tried.contains(holder.ref().uid()))
                .findFirst();
    }

    private boolean isStale(ClaimRecord record) {
        return !context.isOfThisBoot(record)
                || record.phase() == Phase.PREPARING
                || record.phase() == Phase.UNPREPARING;
    }
}
