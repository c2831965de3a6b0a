// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static java.util.stream.Collectors.toSet;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Answer;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The life of one claim on this node, one durable step after the other.
 *
 * <p>Prepare: (1) the journal says STARTED; (2) the provider works, and may record its progress;
 * (3) what devices report and the CDI spec are in place; (4) the journal says PREPARED, with the
 * answer. Unprepare: (5) the journal says UNPREPARING; (6) the provider undoes, and may record its
 * progress; (7) the CDI spec and the reports are gone; (8) the journal forgets the claim.
 *
 * <p>So whatever moment the process dies in, the journal knows of all that may be left, and
 * unprepare alone cleans it up. Callers see to it that no two operations of one claim overlap.
 */
final class ClaimLife {

    private final DeviceProvider provider;
    private final Journal journal;
    private final CdiSpecs specs;
    private final ClaimReports reports;
    private final DeviceHolds holds = new DeviceHolds();

    ClaimLife(DeviceProvider provider, Journal journal, CdiSpecs specs, ClaimReports reports) {
        this.provider = provider;
        this.journal = journal;
        this.specs = specs;
        this.reports = reports;
        journal.claims().forEach(record -> holds.restore(record.ref(), record.devices()));
    }

    /** Returns what the journal knows of a claim. */
    Optional<ClaimRecord> record(ClaimRef ref) {
        return journal.claim(ref.uid());
    }

    /** Says whether a record is the one of a claim that is prepared in this boot. */
    boolean isPrepared(ClaimRecord record) {
        return record.phase() == Phase.PREPARED && record.bootId().equals(journal.bootId());
    }

    /** Prepares a claim that the journal does not know. */
    Answer begin(AllocatedClaim claim, Inventory inventory, Instant deadline) throws Exception {
        List<HeldDevice> devices = Answers.held(claim);
        holds.hold(claim.ref(), devices, inventory);
        put(claim.ref(), Phase.STARTED, devices, null, null);

        PreparedClaim prepared = provider.prepare(claim, progress(claim.ref(), deadline));
        Answer answer = Answers.answer(claim, reports.prepared(claim, prepared));
        specs.write(claim.ref().uid(), answer.edits(), Answers.specDevices(answer));
        ProviderState state = prepared.state() == null ? state(claim.ref()) : prepared.state();
        put(claim.ref(), Phase.PREPARED, devices, state, answer);
        return answer;
    }

    /** Answers a claim that is prepared, with its CDI spec in place again. */
    PrepareOutcome answer(ClaimRef ref, Answer answer) {
        specs.write(ref.uid(), answer.edits(), Answers.specDevices(answer));
        reports.reestablish(ref);
        return Answers.outcome(answer, specs.ids(ref.uid(), Answers.specDevices(answer)));
    }

    /** Unprepares a claim, in whatever phase its record is. */
    void end(ClaimRecord record, Instant deadline) throws Exception {
        HeldClaim held = held(record);
        put(record.ref(), Phase.UNPREPARING, record.devices(), record.state(), null);

        provider.unprepare(held, progress(record.ref(), deadline));
        specs.remove(record.ref().uid());
        reports.end(record.ref());
        journal.forget(record.ref().uid());
        holds.release(record.ref().uid());
    }

    /** Removes what may be there of a claim that the journal does not know. */
    void endUnknown(ClaimRef ref) {
        specs.remove(ref.uid());
        reports.end(ref);
        holds.release(ref.uid());
    }

    /** Returns all claims that the journal knows, as the provider sees them. */
    List<HeldClaim> held() {
        return journal.claims().stream().map(this::held).toList();
    }

    /**
     * Makes the CDI specs what the journal says: those of prepared claims are there, and no others.
     *
     * <p>A spec of an earlier boot goes: its claim is prepared afresh, with device numbers that may
     * have changed.
     */
    void reconcile() {
        Set<String> wanted = new HashSet<>();
        for (ClaimRecord record : journal.claims()) {
            Answer answer = record.answer();
            if (answer != null && isPrepared(record)) {
                specs.write(record.ref().uid(), answer.edits(), Answers.specDevices(answer));
                wanted.add(record.ref().uid());
            }
        }
        specs.claimUids().stream().filter(uid -> !wanted.contains(uid)).forEach(specs::remove);
        Set<String> known =
                journal.claims().stream().map(record -> record.ref().uid()).collect(toSet());
        reports.reconcile(wanted, known);
    }

    private HeldClaim held(ClaimRecord record) {
        return record.held(journal.bootId());
    }

    private Progress progress(ClaimRef ref, Instant deadline) {
        return new Progress() {
            @Override
            public void record(ProviderState state) {
                ClaimRecord now = journal.claim(ref.uid()).orElseThrow();
                put(ref, now.phase(), now.devices(), state, now.answer());
            }

            @Override
            public Instant deadline() {
                return deadline;
            }
        };
    }

    private @Nullable ProviderState state(ClaimRef ref) {
        return journal.claim(ref.uid()).map(ClaimRecord::state).orElse(null);
    }

    private void put(
            ClaimRef ref,
            Phase phase,
            List<HeldDevice> devices,
            @Nullable ProviderState state,
            @Nullable Answer answer) {
        String boot = journal.claim(ref.uid()).map(ClaimRecord::bootId).orElse(journal.bootId());
        journal.put(new ClaimRecord(ref, phase, boot, devices, state, answer));
    }
}
