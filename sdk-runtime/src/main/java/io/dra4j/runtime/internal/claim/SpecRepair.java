// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.BootId.BootMark;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.files.FileStamp;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reconciles CDI specs with the journal after a start: there is a spec for each claim that is prepared, and no other.
 * Later, specs that are gone are written again, since the kubelet would not ask, and reports are sent that another
 * process of the driver left.
 *
 * <p>The spec of a prepared claim is written again if it is missing or differs; that of a claim of an earlier boot is
 * removed. A spec whose claim has no record is evidence that the journal lost it, because specs are removed before
 * records; but after a reboot it is just one whose removal the disk lost. A failure concerns only its own claim, is
 * reported and tried again, and never ends the start. A claim with a running operation is left to that operation. Not
 * thread-safe.
 */
final class SpecRepair {

    private static final Logger LOG = LoggerFactory.getLogger(SpecRepair.class);

    private final ClaimParts context;
    private final LostClaims lost;
    private final BootMark boot;
    private final Map<String, FileStamp> intact = new HashMap<>(); // by claim, specs that were read and not damaged
    private volatile String failure = ""; // as it was reported last; empty if nothing failed since

    SpecRepair(ClaimParts context, LostClaims lost) {
        this.context = context;
        this.lost = lost;
        this.boot = context.journal().bootMark();
    }

    /** Repairs what an earlier process left. */
    void recover() {
        repair();
        lost.report();
    }

    /** Looks for specs that are gone or damaged, and for reports of another process, and tries again what failed. */
    void repairAgain() {
        if (!failure.isEmpty()) {
            repair();
            return;
        }
        Map<String, DraException> failures = new LinkedHashMap<>();
        restoreMissing(failures);
        attempt("what devices report", () -> sendReports(failures), failures);
        settle(failures);
    }

    private void restoreMissing(Map<String, DraException> failures) {
        List<String> uids = new ArrayList<>(withSpec()); // before the look: a spec comes before its record
        intact.keySet().retainAll(uids);
        uids.removeIf(this::isIntact);
        uids.forEach(uid -> attempt(uid, () -> repair(uid), failures));
        uids.removeIf(uid -> !isIntact(uid)); // failed, left to a running operation, or unprepared since
        if (!uids.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM_UID, uids)
                    .log(
                            "The CDI specs of {} prepared claims were gone or damaged, and are written again",
                            uids.size());
        }
    }

    /** A spec is not read again before its file changes. */
    private boolean isIntact(String uid) {
        Path file = context.specs().file(uid);
        FileStamp now = FileStamp.of(file);
        if (now.equals(intact.get(uid))) {
            return true;
        }
        boolean isIntact = !context.specs().deviceNames(uid).isEmpty();
        if (isIntact && FileStamp.of(file).equals(now)) { // else it was written meanwhile
            intact.put(uid, now);
        } else {
            intact.remove(uid);
        }
        return isIntact;
    }

    private Set<String> withSpec() {
        return context.journal().claims().stream()
                .filter(context::isPrepared)
                .filter(claim -> claim.results() != null
                        && !PreparedResults.specDevices(claim.results()).isEmpty())
                .map(claim -> claim.ref().uid())
                .collect(Collectors.toSet());
    }

    private void repair() {
        Map<String, DraException> failures = new LinkedHashMap<>();
        for (ClaimRecord record : context.journal().claims()) {
            String uid = record.ref().uid();
            attempt(uid, () -> repair(uid), failures);
        }
        attempt("the CDI directory", () -> checkSpecs(failures), failures);
        attempt("what devices report", () -> sendReports(failures), failures);
        if (failures.isEmpty()) {
            attempt("the mark of the boot", boot::write, failures);
        }
        settle(failures);
    }

    private void settle(Map<String, DraException> failures) {
        if (failures.isEmpty()) {
            failure = "";
        } else {
            report(failures, failures.entrySet().iterator().next());
        }
    }

    /** Another process of the driver may have stopped before it had sent a report, or the end of one. */
    private void sendReports(Map<String, DraException> failures) {
        ClaimReports reports = context.reports();
        Set<String> uids = reports.claimUids(); // before the look: a record comes before its report
        for (ClaimRecord claim : context.journal().claims()) {
            String uid = claim.ref().uid();
            if (uids.remove(uid) && reports.isOfAnother(uid)) {
                attempt(uid, () -> sendReport(uid), failures);
            }
        }
        uids.forEach(uid -> attempt(uid, () -> endReport(uid), failures));
    }

    private void sendReport(String uid) {
        ifFree(
                uid,
                lifecycle -> lifecycle
                        .record()
                        .filter(context::isPrepared)
                        .ifPresent(claim -> context.reports().reestablish(uid)));
    }

    private void endReport(String uid) {
        ifFree(uid, lifecycle -> {
            if (lifecycle.record().isEmpty()) {
                context.reports().endLeft(uid);
            }
        });
    }

    private void ifFree(String uid, Consumer<ClaimLifecycle> work) {
        try (ClaimLifecycle lifecycle = ClaimLifecycle.takeIfFree(context, uid).orElse(null)) {
            if (lifecycle != null) { // else the running operation repairs it
                work.accept(lifecycle);
            }
        }
    }

    private static void attempt(String subject, Runnable repair, Map<String, DraException> failures) {
        try {
            repair.run();
        } catch (DraException e) {
            failures.put(subject, e);
        }
    }

    private void repair(String uid) {
        ifFree(uid, lifecycle -> lifecycle.record().ifPresent(claim -> repair(lifecycle, claim)));
    }

    private void repair(ClaimLifecycle lifecycle, ClaimRecord claim) {
        ClaimRecord.Results results = claim.results();
        if (results != null && context.isPrepared(claim)) {
            lifecycle.restoreFiles(results);
        } else if (!context.isOfThisBoot(claim)) {
            context.specs().remove(claim.ref().uid());
        }
    }

    private void checkSpecs(Map<String, DraException> failures) {
        boolean rebooted = boot.isOfEarlierBoot();
        for (String uid : context.specs().claimUids()) {
            if (context.journal().claim(uid).isEmpty()) {
                attempt(uid, () -> checkSpec(uid, rebooted), failures);
            }
        }
    }

    private void checkSpec(String uid, boolean rebooted) {
        ifFree(uid, lifecycle -> {
            if (lifecycle.record().isPresent()) {
                return;
            }
            if (rebooted) {
                lifecycle.removeFiles();
            } else if (!Files.notExists(context.specs().file(uid), LinkOption.NOFOLLOW_LINKS)) {
                lost.holdForSpec(uid);
            }
        });
    }

    private void report(Map<String, DraException> failures, Map.Entry<String, DraException> first) {
        String message = ("%s repairs on this node failed, and will be tried again; the first, of %s: %s")
                .formatted(failures.size(), first.getKey(), first.getValue().getMessage());
        LOG.atLevel(message.equals(failure) ? Level.DEBUG : Level.WARN)
                .setCause(first.getValue())
                .log(message);
        failure = message;
        context.events().record(new DriverEvent(Reason.SPECS_NOT_REPAIRED, "CDI specs", message, first.getValue()));
    }
}
