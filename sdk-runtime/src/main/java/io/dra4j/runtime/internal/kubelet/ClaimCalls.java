// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.dra4j.runtime.internal.observe.LogField;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * The kubelet's calls in all versions: every UID of a request gets exactly one answer.
 *
 * <p>This is the edge: whatever goes wrong beyond it becomes a gRPC status, is logged once, and
 * does not end the process.
 */
final class ClaimCalls {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimCalls.class);
    private static final Duration KUBELET_DEADLINE = Duration.ofSeconds(45);
    private static final AtomicLong OPERATIONS = new AtomicLong();

    private final ClaimOperations operations;
    private final InstantSource clock;

    ClaimCalls(ClaimOperations operations, InstantSource clock) {
        this.operations = operations;
        this.clock = clock;
    }

    Map<String, PrepareOutcome> prepare(List<Claim> requested) {
        Map<String, PrepareOutcome> answers = new LinkedHashMap<>();
        Map<String, ClaimRef> claims = new LinkedHashMap<>();
        for (Claim claim : requested) {
            String uid = claim.getUid();
            try {
                claims.put(uid, new ClaimRef(claim.getNamespace(), claim.getName(), uid));
            } catch (IllegalArgumentException e) {
                answers.put(uid, new PrepareOutcome.Failed(e.getMessage()));
            }
        }
        operations
                .prepare(List.copyOf(claims.values()), deadline())
                .forEach((ref, outcome) -> answers.put(ref.uid(), outcome));
        return answers;
    }

    /** A claim is its UID, whatever its names; what can't be a UID was never prepared. */
    Map<String, UnprepareOutcome> unprepare(List<Claim> requested) {
        Map<String, UnprepareOutcome> answers = new LinkedHashMap<>();
        requested.forEach(claim -> answers.put(claim.getUid(), new UnprepareOutcome.Unprepared()));
        List<String> claims = answers.keySet().stream().filter(ClaimRef::isUid).toList();
        answers.putAll(operations.unprepare(claims, deadline()));
        return answers;
    }

    /** Answers a call; its log lines, and those of the work it asks for, carry one id. */
    static <T> void answer(StreamObserver<T> response, Supplier<T> call) {
        MDC.put(LogField.OP_ID, Long.toString(OPERATIONS.incrementAndGet()));
        try {
            response.onNext(call.get());
            response.onCompleted();
        } catch (RuntimeException e) { // the edge
            LOG.error("A call of the kubelet failed in a way that is a bug of dra4j", e);
            response.onError(
                    Status.INTERNAL
                            .withDescription("internal error of the driver; its log says more")
                            .asRuntimeException());
        } finally {
            MDC.remove(LogField.OP_ID);
        }
    }

    private Instant deadline() {
        Deadline deadline = Context.current().getDeadline();
        long left =
                deadline == null
                        ? KUBELET_DEADLINE.toMillis()
                        : Math.min(
                                deadline.timeRemaining(TimeUnit.MILLISECONDS),
                                KUBELET_DEADLINE.toMillis());
        return clock.instant().plusMillis(left);
    }
}
