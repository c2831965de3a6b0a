// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Claims whose devices nobody uses any more, though the journal holds them: left behind by a crash,
 * by a reboot, or by an unprepare that failed.
 *
 * <p>Before another claim takes a device of theirs they are unprepared, each under its own lock,
 * and none that an operation runs of. One that takes long goes on, and the other claim is refused.
 * A damaged claim of this boot is not among them: its containers may run. Thread-safe.
 */
final class StaleClaims {

    private final Journal journal;
    private final ClaimLifecycle.Lives lives;
    private final Unpreparation unpreparation;
    private final Supplier<Optional<Inventory>> inventory;

    StaleClaims(
            ClaimLifecycle.Lives lives,
            Unpreparation unpreparation,
            Supplier<Optional<Inventory>> inventory) {
        this.journal = lives.journal();
        this.lives = lives;
        this.unpreparation = unpreparation;
        this.inventory = inventory;
    }

    /** Unprepares what was left behind and keeps a claim from its devices. */
    void makeWay(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
        Set<String> tried = new HashSet<>();
        Optional<ClaimRecord> next = inTheWay(ref, devices, tried);
        while (next.isPresent()) {
            String uid = next.get().ref().uid();
            tried.add(uid);
            unpreparation.endIfIdle(
                    uid,
                    "left behind, and a device of it is wanted",
                    this::isLeft,
                    deadline,
                    deadline.left().dividedBy(3));
            next = inTheWay(ref, devices, tried);
        }
    }

    private Optional<ClaimRecord> inTheWay(
            ClaimRef ref, List<HeldDevice> devices, Set<String> tried) {
        if (journal.unsettled().stream().noneMatch(this::isLeft)) {
            return Optional.empty();
        }
        return lives
                .holds()
                .conflict(
                        ref.uid(),
                        devices,
                        ClaimIndex.of(journal.claims()),
                        inventory.get().orElse(Inventory.of()))
                .stream()
                .flatMap(conflict -> conflict.holders().stream())
                .filter(holder -> isLeft(holder) && !tried.contains(holder.ref().uid()))
                .findFirst();
    }

    private boolean isLeft(ClaimRecord record) {
        return !lives.isOfThisBoot(record)
                || record.phase() == Phase.STARTED
                || record.phase() == Phase.UNPREPARING;
    }
}
