// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
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
                List.of(new Finding(
                        "journal-damaged",
                        Severity.ERROR,
                        views.driver().journal().toString(),
                        "%s lines are damaged or missing%s"
                                .formatted(
                                        loss.damagedLines(),
                                        loss.complete()
                                                ? ""
                                                : ", and do not name all claims that they" + " were about"),
                        "the claims of these lines are held as damaged, and their devices"
                                + " are refused to others, until their pods are deleted",
                        mend)));
    }

    static Result heldAsDamaged(Views views) {
        return each(
                views,
                claim -> claim.phase() == Phase.DAMAGED,
                claim -> new Finding(
                        "claim-damaged",
                        Severity.ERROR,
                        Words.claim(claim.ref()),
                        "its record was lost with a damaged journal",
                        "it is never prepared again, and its devices are refused to other"
                                + " claims until it is unprepared",
                        new Mend(views).deletePods(claim.ref())));
    }

    static Result unfinished(Views views) {
        return each(
                views,
                claim -> views.isOfThisBoot(claim)
                        && (claim.phase() == Phase.PREPARING || claim.phase() == Phase.UNPREPARING),
                claim -> new Finding(
                        "claim-unfinished",
                        Severity.WARNING,
                        Words.claim(claim.ref()),
                        "it is " + claim.phase().name().toLowerCase(Locale.ROOT),
                        "a crash or a failure has left it so, unless the driver works on it"
                                + " right now; the kubelet's next call ends it",
                        List.of(
                                "kubectl -n %s describe resourceclaim %s"
                                        .formatted(
                                                claim.ref().namespace(),
                                                claim.ref().name()),
                                "# look again in two minutes; if it stays, the driver's log"
                                        + " names the claim and the reason")));
    }

    static Result earlierBoot(Views views) {
        return each(
                views,
                claim -> !views.isOfThisBoot(claim),
                claim -> new Finding(
                        "earlier-boot",
                        Severity.WARNING,
                        Words.claim(claim.ref()),
                        "it was prepared before the node's last reboot, and since then"
                                + " neither prepared nor unprepared",
                        "its containers can't run as they are: what the driver had set up"
                                + " for them ended with that boot",
                        new Mend(views).deletePods(claim.ref())));
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
        return new Finding(
                "device-held-twice",
                Severity.ERROR,
                Words.claim(claim.ref()),
                "%s by %s, too"
                        .formatted(
                                conflict.problem(),
                                Words.claim(conflict.holders().get(0).ref())),
                "two workloads that were to have a device each have the same, and disturb each" + " other",
                new Mend(views).deletePods(claim.ref()));
    }
}
