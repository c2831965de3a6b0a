// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.PreparedResults.PreparedCheck;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation on one claim on this node: its steps, in an order in which a crash loses nothing.
 *
 * <p>Prepare ({@link #prepare}):
 *
 * <ol>
 *   <li>the journal has the claim as PREPARING, if no committed claim conflicts: check and write are one step;
 *   <li>the provider works; what it checkpoints is in the journal when it continues;
 *   <li>the devices' reports, and then the CDI spec, are written;
 *   <li>the journal has the claim as PREPARED, with the results.
 * </ol>
 *
 * <p>Unprepare ({@link #unprepare}), of a claim in any phase:
 *
 * <ol>
 *   <li>the journal has the claim as UNPREPARING, and remembers if it was DAMAGED;
 *   <li>the provider undoes its work; what it checkpoints is in the journal when it continues;
 *   <li>the CDI spec is removed, and then the devices' reports;
 *   <li>the journal forgets the claim.
 * </ol>
 *
 * <p>A step of the journal is durable when the next one begins. A provider's work, a CDI spec and the removal of the
 * claim need not be: after a power failure the claim may still be UNPREPARING. The first step need not be either if the
 * provider {@linkplain io.dra4j.api.DeviceProvider#changesNothing changes nothing}: a power failure then leaves at most
 * a spec and reports, which the next start removes. So whenever the process dies, the journal lists all that may be
 * left, and unprepare can clean it up. The operation holds the claim's lock from {@link #take} to {@link #close},
 * which excludes other threads and the other process of a rolling update. Not thread-safe.
 */
final class ClaimLifecycle implements AutoCloseable {

    private final ClaimParts context;
    private final String uid;
    private final Deadline deadline;
    private final WriteGroup writes;
    private final LockFile.Held lock;
    private @Nullable ProviderState returned; // by the provider's prepare

    private ClaimLifecycle(ClaimParts context, String uid, Deadline deadline, WriteGroup writes, LockFile.Held lock) {
        this.context = context;
        this.uid = uid;
        this.deadline = deadline;
        this.writes = writes;
        this.lock = lock;
    }

    /**
     * Locks a claim.
     *
     * @param writes the group that shares the writes of the claim's call
     * @throws DraException if another process works on the claim until the deadline
     */
    static ClaimLifecycle take(ClaimParts context, String uid, Deadline deadline, WriteGroup writes) {
        LockFile.Held lock = context.locks().claim(uid, () -> deadline.left().isZero());
        return new ClaimLifecycle(context, uid, deadline, writes, lock);
    }

    /**
     * Locks a claim without waiting; empty if an operation of the claim runs, in any process.
     *
     * @throws DraException if the lock file can't be locked
     */
    static Optional<ClaimLifecycle> takeIfFree(ClaimParts context, String uid, Deadline deadline) {
        WriteGroup alone = context.journal().group(Set.of(uid));
        return context.locks().tryClaim(uid).map(lock -> new ClaimLifecycle(context, uid, deadline, alone, lock));
    }

    /** Locks a claim without waiting, to inspect it or to remove it immediately. */
    static Optional<ClaimLifecycle> takeIfFree(ClaimParts context, String uid) {
        return takeIfFree(context, uid, Deadline.in(Duration.ZERO, context.clock()));
    }

    Optional<ClaimRecord> record() {
        return context.journal().claim(uid);
    }

    /**
     * Prepares the claim, which has no record.
     *
     * @param unprepareSkipped true if the kubelet never asks to unprepare the claim, or null
     * @param check refuses the claim if it conflicts with the committed claims
     * @throws Exception what the provider throws, and {@link DraException} if a step fails; the claim must be
     *     {@linkplain #unprepare unprepared} then
     */
    Results prepare(AllocatedClaim claim, @Nullable Boolean unprepareSkipped, Consumer<ClaimIndex> check)
            throws Exception {
        boolean changesNothing = context.provider().changesNothing(claim);
        ClaimRecord begun = new ClaimRecord(
                claim.ref(),
                Phase.PREPARING,
                context.journal().bootId(),
                claim.devices().stream().map(AllocatedDevice::held).toList(),
                null,
                null,
                unprepareSkipped,
                null,
                ClaimCodec.pods(claim.rawJson()));
        if (changesNothing) {
            writes.putUnsynced(begun, check);
        } else {
            writes.put(begun, check);
        }

        ClaimRecord done = context.providerCalls()
                .call(
                        changesNothing ? PreparedCheck::refuseState : this::recordProgress,
                        deadline,
                        call -> withFiles(
                                begun,
                                claim,
                                PreparedCheck.checked(
                                        claim, kept(context.provider().prepare(claim, call)), changesNothing)));
        writes.put(done);
        return Objects.requireNonNull(done.results());
    }

    /** Keeps the state for the case that a later step fails. */
    private @Nullable PreparedClaim kept(@Nullable PreparedClaim prepared) {
        returned = prepared == null ? null : prepared.state();
        return prepared;
    }

    /** Returns the record of a prepare that failed, with the last state that was checkpointed or returned. */
    Optional<ClaimRecord> failed() {
        return record().map(begun -> returned == null ? begun : begun.withState(returned));
    }

    /** Runs in the provider's call, since files may also stall: a claim's own thread may be virtual. */
    private ClaimRecord withFiles(ClaimRecord begun, AllocatedClaim claim, PreparedClaim prepared) {
        Results results = PreparedResults.results(claim, context.reports().prepared(claim, prepared));
        writeSpec(results);
        return begun.prepared(prepared.state() == null ? state() : prepared.state(), results);
    }

    /** Restores the CDI spec and the reports of a claim that was prepared earlier, and returns the outcome. */
    PrepareOutcome restore(Results results) {
        return context.providerCalls().apart(() -> {
            writeSpec(results); // no write if the spec is as it should be
            return reported(results);
        });
    }

    /** Restores the files of a claim that was prepared earlier; its status is sent only if that may be due. */
    void restoreFiles(Results results) {
        context.providerCalls().apart(() -> {
            writeSpec(results);
            context.reports().restore(uid);
            return true;
        });
    }

    /** Restores the reports of the prepared claim, whose CDI spec exists, and returns the outcome. */
    PrepareOutcome reported(Results results) {
        context.reports().reestablish(uid);
        return PreparedResults.outcome(results, context.specs().ids(uid, PreparedResults.specDevices(results)));
    }

    /** Removes reports of an earlier preparation from the cluster, even if a power loss left no report of it here. */
    void endEarlierReport(ClaimRef ref, String claimJson) {
        if (context.reports().isReported(claimJson)) {
            context.providerCalls().apart(() -> {
                context.reports().endEarlier(ref);
                return true;
            });
        }
    }

    /**
     * Unprepares the claim, in any phase.
     *
     * @throws Exception what the provider throws, and {@link DraException} if a step fails; the claim stays held then
     */
    void unprepare(ClaimRecord record) throws Exception {
        writes.put(record.unpreparing());

        context.providerCalls().call(this::recordProgress, deadline, call -> {
            context.provider().unprepare(context.held(record), call);
            removeOwnFiles();
            return true;
        });

        writes.forget(uid);
    }

    /** Removes what may be left of the claim, which has no record. */
    void removeFiles() {
        context.providerCalls().apart(() -> {
            removeOwnFiles();
            return true;
        });
    }

    private void removeOwnFiles() {
        context.specs().remove(uid);
        context.reports().end(uid);
    }

    private void writeSpec(Results results) {
        context.specs().write(uid, results.edits(), PreparedResults.specDevices(results));
    }

    /** A provider waits for this single write: it is not grouped. */
    private void recordProgress(ProviderState state) {
        context.journal().put(record().orElseThrow().withState(state));
    }

    private @Nullable ProviderState state() {
        return record().map(ClaimRecord::state).orElse(null);
    }

    @Override
    public void close() {
        lock.close();
    }
}
