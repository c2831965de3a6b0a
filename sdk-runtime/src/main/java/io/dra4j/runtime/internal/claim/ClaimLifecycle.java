// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Answer;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.claim.allocation.HoldConflict;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.io.Serial;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The life of one claim on this node, one durable step after the other.
 *
 * <p>Prepare ({@link #begin}):
 *
 * <ol>
 *   <li>the journal says STARTED, if no claim in force is in the way: check and write are one step;
 *   <li>the provider works; what it records of its progress is in the journal when it goes on;
 *   <li>what devices report, and then the CDI spec, are in place;
 *   <li>the journal says PREPARED, with the answer.
 * </ol>
 *
 * <p>Unprepare ({@link #end}), of a claim in whatever phase:
 *
 * <ol>
 *   <li>the journal says UNPREPARING;
 *   <li>the provider undoes; what it records of its progress is in the journal when it goes on;
 *   <li>the CDI spec is gone, and then what devices reported;
 *   <li>the journal forgets the claim.
 * </ol>
 *
 * <p>So whatever moment the process dies in, the journal knows of all that may be left, and
 * unprepare alone cleans it up. An object is one operation on the claim: it has the claim's lock
 * from {@link Lives#take} to {@link #close}, which keeps away other threads and the other process
 * of a rolling update. Not thread-safe.
 */
final class ClaimLifecycle implements AutoCloseable {

    private final Lives of;
    private final String uid;
    private final Deadline deadline;
    private final WriteGroup writes;
    private final LockFile.Held lock;

    private ClaimLifecycle(
            Lives of, String uid, Deadline deadline, WriteGroup writes, LockFile.Held lock) {
        this.of = of;
        this.uid = uid;
        this.deadline = deadline;
        this.writes = writes;
        this.lock = lock;
    }

    /** What the lives of all claims have in common. */
    record Lives(
            DeviceProvider provider,
            Journal journal,
            LockFile locks,
            CdiSpecs specs,
            ClaimReports reports,
            DeviceHolds holds) {

        /**
         * Takes a claim to work on.
         *
         * @param writes what the claim's call shares its writes with
         * @throws DraException if another process works on the claim until the deadline
         */
        ClaimLifecycle take(String uid, Deadline deadline, WriteGroup writes) {
            LockFile.Held lock = locks.claim(uid, deadline.instant());
            return new ClaimLifecycle(this, uid, deadline, writes, lock);
        }

        /**
         * Takes a claim to work on by itself.
         *
         * @throws Busy if anybody else works on it
         */
        ClaimLifecycle takeIfFree(String uid, Deadline deadline) throws Busy {
            LockFile.Held lock;
            try {
                lock = locks.claim(uid, Instant.MIN);
            } catch (DraException e) {
                throw new Busy(e);
            }
            return new ClaimLifecycle(this, uid, deadline, journal.group(Set.of(uid)), lock);
        }

        /** Says whether a record is the one of a claim that is prepared in this boot. */
        boolean isPrepared(ClaimRecord record) {
            return record.phase() == Phase.PREPARED && isOfThisBoot(record);
        }

        /** Says whether a record was begun in this boot. */
        boolean isOfThisBoot(ClaimRecord record) {
            return record.bootId().equals(journal.bootId());
        }

        /** Returns a record as the provider sees it. */
        HeldClaim held(ClaimRecord record) {
            return record.held(journal.bootId());
        }
    }

    /** Somebody else works on the claim. */
    static final class Busy extends Exception {
        @Serial private static final long serialVersionUID = 1L;

        Busy(DraException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** Returns what the journal knows of the claim. */
    Optional<ClaimRecord> record() {
        return of.journal.claim(uid);
    }

    /**
     * Prepares the claim, which the journal does not know.
     *
     * @throws Exception what the provider throws, and {@link DraException} if a step fails; what
     *     was begun is to be {@linkplain #end ended} then
     */
    Answer begin(AllocatedClaim claim, Inventory inventory) throws Exception {
        List<HeldDevice> devices = PreparedResults.held(claim);
        writes.put(
                record(claim.ref(), Phase.STARTED, devices, null, null),
                inForce -> {
                    LostClaims.requireNoneLost(of.journal);
                    of.holds
                            .conflict(uid, devices, inForce, inventory)
                            .ifPresent(HoldConflict::refuse);
                });

        PreparedClaim prepared;
        try (CallProgress progress = new CallProgress(this::recordProgress, deadline)) {
            prepared = of.provider.prepare(claim, progress);
        }
        Answer answer = PreparedResults.answer(claim, of.reports.prepared(claim, prepared));

        writeSpec(answer);

        ProviderState state = prepared.state() == null ? state() : prepared.state();
        writes.put(record(claim.ref(), Phase.PREPARED, devices, state, answer));
        return answer;
    }

    /** Answers the claim, which is prepared, with its CDI spec in place again. */
    PrepareOutcome answer(Answer answer) {
        writeSpec(answer);
        of.reports.reestablish(uid);
        return PreparedResults.outcome(
                answer, of.specs.ids(uid, PreparedResults.specDevices(answer)));
    }

    /**
     * Unprepares the claim, in whatever phase its record is.
     *
     * @throws Exception what the provider throws, and {@link DraException} if a step fails; the
     *     claim stays held then
     */
    void end(ClaimRecord record) throws Exception {
        writes.put(
                new ClaimRecord(
                        record.ref(),
                        Phase.UNPREPARING,
                        record.bootId(),
                        record.devices(),
                        record.state(),
                        null));

        try (CallProgress progress = new CallProgress(this::recordProgress, deadline)) {
            of.provider.unprepare(of.held(record), progress);
        }

        of.specs.remove(uid);
        of.reports.end(uid);

        writes.forget(uid);
    }

    /** Removes what may be there of the claim, which the journal does not know. */
    void endUnknown() {
        of.specs.remove(uid);
        of.reports.end(uid);
    }

    private void writeSpec(Answer answer) {
        of.specs.write(uid, answer.edits(), PreparedResults.specDevices(answer));
    }

    /** A provider waits for this one alone: nothing is gathered. */
    private void recordProgress(ProviderState state) {
        ClaimRecord now = record().orElseThrow();
        of.journal.put(
                new ClaimRecord(
                        now.ref(), now.phase(), now.bootId(), now.devices(), state, now.answer()));
    }

    private @Nullable ProviderState state() {
        return record().map(ClaimRecord::state).orElse(null);
    }

    private ClaimRecord record(
            ClaimRef ref,
            Phase phase,
            List<HeldDevice> devices,
            @Nullable ProviderState state,
            @Nullable Answer answer) {
        return new ClaimRecord(ref, phase, of.journal.bootId(), devices, state, answer);
    }

    @Override
    public void close() {
        lock.close();
    }
}
