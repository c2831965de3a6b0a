// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Loss;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.claim.allocation.HoldConflict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** Contradictions inside the journal. */
final class JournalAlone {

    private JournalAlone() {}

    static Result damaged(Views views) {
        Loss loss = views.journal().get().loss();
        if (loss.damagedLines() == 0 && loss.complete()) {
            return Result.healthy("all lines are intact");
        }
        List<String> mend = new ArrayList<>();
        mend.add("java -jar DRIVER.jar journal inspect " + views.driver().journal());
        mend.addAll(new Mend(views).restartDriver());
        return new Result(
                "",
                List.of(Words.finding(
                        "journal-damaged",
                        views.driver().journal().toString(),
                        mend,
                        loss.damagedLines(),
                        loss.complete() ? "" : ", and do not name all claims that they were about")));
    }

    static Result heldAsDamaged(Views views) {
        return each(
                views,
                claim -> claim.phase() == Phase.DAMAGED,
                claim -> Words.finding("claim-damaged", claim.ref(), new Mend(views).deletePods(claim.ref())));
    }

    static Result unfinished(Views views) {
        return each(
                views,
                claim -> views.isOfThisBoot(claim)
                        && (claim.phase() == Phase.PREPARING || claim.phase() == Phase.UNPREPARING),
                claim -> Words.finding(
                        "claim-unfinished",
                        claim.ref(),
                        List.of(
                                "kubectl -n %s describe resourceclaim %s"
                                        .formatted(
                                                claim.ref().namespace(),
                                                claim.ref().name()),
                                "# look again in two minutes; if it stays, the driver's log names the claim and the reason"),
                        claim.phase().name().toLowerCase(Locale.ROOT)));
    }

    static Result earlierBoot(Views views) {
        return each(
                views,
                claim -> !views.isOfThisBoot(claim),
                claim -> Words.finding("earlier-boot", claim.ref(), new Mend(views).deletePods(claim.ref())));
    }

    private static Result each(Views views, Function<ClaimRecord, Boolean> is, Function<ClaimRecord, Finding> found) {
        List<ClaimRecord> all = views.recorded();
        return Words.result(all.stream().filter(is::apply).map(found).toList(), all.size(), "claim");
    }

    /** Each claim is held against those before it, so that a pair is found once. */
    static Result heldTwice(Views views) {
        Inventory hardware = views.hardware().orElse(Inventory.of());
        List<ClaimRecord> before = new ArrayList<>();
        List<Finding> findings = new ArrayList<>();
        DeviceHolds holds = new DeviceHolds(views.driver().name());
        for (ClaimRecord claim : views.recorded()) {
            if (views.isOfThisBoot(claim)) {
                conflict(holds, claim, before, hardware)
                        .ifPresent(conflict -> findings.add(heldTwice(views, claim, conflict)));
                before.add(claim);
            }
        }
        return Words.result(findings, before.size(), "claim");
    }

    private static Optional<HoldConflict> conflict(
            DeviceHolds holds, ClaimRecord claim, List<ClaimRecord> others, Inventory hardware) {
        try {
            return holds.conflict(claim.ref().uid(), claim.devices(), ClaimIndex.of(others), hardware);
        } catch (PrepareException e) { // what it takes is more than there is, by itself
            return Optional.empty();
        }
    }

    private static Finding heldTwice(Views views, ClaimRecord claim, HoldConflict conflict) {
        return Words.finding(
                "device-held-twice",
                claim.ref(),
                new Mend(views).deletePods(claim.ref()),
                conflict.problem(),
                Words.claim(conflict.holders().get(0).ref()));
    }
}
