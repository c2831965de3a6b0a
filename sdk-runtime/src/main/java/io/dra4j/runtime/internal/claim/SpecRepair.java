// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings CDI specs in line with the journal after a start: containers are told of the claims that
 * are prepared, and of no others.
 *
 * <p>The spec of a prepared claim is written again if it is missing or differs; that of a claim of
 * an earlier boot is removed. A spec whose claim has no record is evidence that the journal lost
 * it, because specs are removed before records; but after a reboot it is just one whose removal the
 * disk never heard of. A failure concerns its own claim, is told, and tried again: it never ends
 * the start. A claim that an operation runs of is left to it. Not thread-safe.
 */
final class SpecRepair {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparation.class);

    private final ClaimPreparation.Parts parts;
    private final ClaimLifecycle.Lives lives;
    private final LostClaims lost;
    private final BootMark boot;
    private volatile boolean failed;

    SpecRepair(ClaimPreparation.Parts parts, ClaimLifecycle.Lives lives, LostClaims lost) {
        this.parts = parts;
        this.lives = lives;
        this.lost = lost;
        this.boot = new BootMark(parts.dataDirectory());
    }

    /** Takes up what an earlier process left. */
    void takeUp() {
        repair();
        lost.tell();
    }

    /** Tries again what failed before. */
    void repairAgain() {
        if (failed) {
            repair();
        }
    }

    private void repair() {
        Map<String, DraException> failures = new LinkedHashMap<>();
        for (ClaimRecord record : parts.journal().claims()) {
            String uid = record.ref().uid();
            attempt(uid, () -> repair(uid), failures);
        }
        attempt("the CDI directory", () -> judgeSpecs(failures), failures);
        attempt("what devices report", () -> endReports(failures), failures);
        if (failures.isEmpty()) {
            attempt("its mark", () -> boot.write(parts.journal().bootId()), failures);
        }
        failed = !failures.isEmpty();
        failures.entrySet().stream().findFirst().ifPresent(first -> tell(failures, first));
    }

    private void endReports(Map<String, DraException> failures) {
        for (String uid : parts.reports().claimUids()) {
            attempt(uid, () -> endReport(uid), failures);
        }
    }

    private void endReport(String uid) {
        try (ClaimLifecycle life =
                lives.takeIfFree(uid, Deadline.in(Duration.ZERO, parts.clock()))) {
            if (life.record().isEmpty()) {
                parts.reports().end(uid);
            }
        } catch (ClaimLifecycle.Busy e) {
            LOG.atDebug().addKeyValue(LogField.CLAIM_UID.toString(), uid).log("Left to its call");
        }
    }

    private static void attempt(
            String subject, Runnable repair, Map<String, DraException> failures) {
        try {
            repair.run();
        } catch (DraException e) {
            failures.put(subject, e);
        }
    }

    private void repair(String uid) {
        try (ClaimLifecycle life =
                lives.takeIfFree(uid, Deadline.in(Duration.ZERO, parts.clock()))) {
            Optional<ClaimRecord> record = life.record();
            if (record.isEmpty()) {
                return;
            }
            ClaimRecord.Answer answer = record.get().answer();
            if (answer != null && lives.isPrepared(record.get())) {
                life.answer(answer);
            } else if (!lives.isOfThisBoot(record.get())) {
                parts.specs().remove(uid);
            }
        } catch (ClaimLifecycle.Busy e) {
            LOG.atDebug().addKeyValue(LogField.CLAIM_UID.toString(), uid).log("Left to its call");
        }
    }

    private void judgeSpecs(Map<String, DraException> failures) {
        Optional<String> lastBoot = boot.read();
        boolean rebooted = lastBoot.filter(id -> !id.equals(parts.journal().bootId())).isPresent();
        for (String uid : parts.specs().claimUids()) {
            if (parts.journal().claim(uid).isEmpty()) {
                attempt(uid, () -> judge(uid, rebooted), failures);
            }
        }
    }

    private void judge(String uid, boolean rebooted) {
        try (ClaimLifecycle life =
                lives.takeIfFree(uid, Deadline.in(Duration.ZERO, parts.clock()))) {
            if (life.record().isPresent()) {
                return;
            }
            if (rebooted) {
                life.endUnknown();
            } else if (parts.specs().claimUids().contains(uid)) {
                lost.holdForSpec(uid);
            }
        } catch (ClaimLifecycle.Busy e) {
            LOG.atDebug().addKeyValue(LogField.CLAIM_UID.toString(), uid).log("Left to its call");
        }
    }

    private void tell(Map<String, DraException> failures, Map.Entry<String, DraException> first) {
        String message =
                "The CDI specs of "
                        + failures.size()
                        + " claims could not be brought in line, and are tried again; the first is "
                        + first.getKey()
                        + ": "
                        + first.getValue().getMessage();
        LOG.atWarn().setCause(first.getValue()).log(message);
        parts.notices()
                .take(
                        new DriverEvent(
                                Reason.SPECS_NOT_REPAIRED, "CDI specs", message, first.getValue()));
    }
}
