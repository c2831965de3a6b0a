// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unprepares a claim: nothing of it is left, or it stays held and the outcome has the reason.
 *
 * <p>It needs only the claim's UID and no API server. Thread-safe.
 */
record Unpreparation(ClaimParts context, ClaimQueue queue, LostClaims lost) {

    private static final Logger LOG = LoggerFactory.getLogger(Unpreparation.class);

    CompletableFuture<UnprepareOutcome> submit(String uid, Deadline deadline, WriteGroup writes) {
        return queue.submit(uid, task(uid, deadline, waiting -> unprepare(uid, waiting, writes)));
    }

    private static ClaimQueue.Task<UnprepareOutcome> task(
            Object input, Deadline deadline, Function<Deadline, UnprepareOutcome> work) {
        return new ClaimQueue.Task<>(UnprepareOutcome.class, input, deadline, work);
    }

    private UnprepareOutcome unprepare(String uid, Deadline deadline, WriteGroup writes) {
        try (ClaimLifecycle lifecycle = ClaimLifecycle.take(context, uid, deadline, writes)) {
            Optional<ClaimRecord> record = lifecycle.record().or(() -> lost.possible(uid));
            if (record.isEmpty()) {
                lifecycle.removeFiles();
            } else {
                unprepare(lifecycle, record.get());
                LOG.atInfo().addKeyValue(LogField.CLAIM, record.get().ref()).log("Claim unprepared");
            }
            lost.unprepared(uid);
            return new UnprepareOutcome.Unprepared();
        } catch (DraException e) {
            LOG.atWarn().addKeyValue(LogField.CLAIM_UID, uid).log("Claim not unprepared: {}", e.getMessage(), e);
            return new UnprepareOutcome.Failed(e.getMessage());
        }
    }

    /**
     * Unprepares a claim without a request, unless an operation of it runs in any process.
     *
     * @param still returns whether the record should still be removed when the operation starts
     * @param timeout how long to wait; an operation that takes longer continues
     * @return true if nothing of the claim is left
     */
    boolean unprepareIfIdle(String uid, String why, Predicate<ClaimRecord> still, Deadline deadline, Duration timeout) {
        // Its input is not the UID: the kubelet's call must not join it, since it may leave the claim as it is.
        Optional<CompletableFuture<UnprepareOutcome>> submitted =
                queue.submitIfIdle(uid, task(still, deadline, waiting -> unprepareIf(uid, why, still, waiting)));
        return submitted.isPresent() && isUnprepared(submitted.get(), timeout);
    }

    private static boolean isUnprepared(CompletableFuture<UnprepareOutcome> end, Duration timeout) {
        try {
            return end.get(timeout.toNanos(), TimeUnit.NANOSECONDS) instanceof UnprepareOutcome.Unprepared;
        } catch (TimeoutException e) {
            return false; // a claim that needs the devices is refused, and tried again
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof RejectedExecutionException)) { // the driver stops
                LOG.error("A claim operation failed unexpectedly; please report this as a dra4j bug", e.getCause());
            }
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private UnprepareOutcome unprepareIf(String uid, String why, Predicate<ClaimRecord> still, Deadline deadline) {
        try (ClaimLifecycle lifecycle =
                ClaimLifecycle.takeIfFree(context, uid, deadline).orElse(null)) {
            if (lifecycle == null) {
                return new UnprepareOutcome.Failed("another operation on the claim is running");
            }
            Optional<ClaimRecord> record = lifecycle.record();
            if (record.isPresent() && !still.test(record.get())) {
                return new UnprepareOutcome.Failed("the claim is in use again");
            }
            if (record.isPresent()) {
                unprepare(lifecycle, record.get());
                LOG.atInfo()
                        .addKeyValue(LogField.CLAIM, record.get().ref())
                        .addKeyValue(LogField.REASON, why)
                        .log("Claim unprepared without a request");
            }
            return new UnprepareOutcome.Unprepared();
        } catch (DraException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM_UID, uid)
                    .addKeyValue(LogField.REASON, why)
                    .log("Claim not unprepared: {}", e.getMessage(), e);
            return new UnprepareOutcome.Failed(e.getMessage());
        }
    }

    /**
     * Unprepares a claim whose lock is held.
     *
     * @throws DraException if it can't be unprepared; it stays held
     */
    static void unprepare(ClaimLifecycle lifecycle, ClaimRecord record) {
        try {
            lifecycle.unprepare(record);
        } catch (Exception | Error e) { // of a provider: the claim stays held
            throw ProviderCalls.failure("could not unprepare the claim", e);
        }
    }
}
