// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
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
 * The kubelet's calls in all versions: every UID of a request gets exactly one result.
 *
 * <p>This is the edge: a failure beyond it becomes a gRPC status, is logged once, and does not end the process.
 */
final class ClaimCalls {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimCalls.class);
    private static final Duration KUBELET_DEADLINE = Duration.ofSeconds(45);
    private static final String PREPARE = "prepare";
    private static final String UNPREPARE = "unprepare";
    private static final String SUCCESS = "success";
    private static final String ERROR = "error";
    private static final AtomicLong OPERATIONS = new AtomicLong();

    private final ClaimOperations operations;
    private final InstantSource clock;
    private final Meters meters;

    /** Counters are registered before they count: an increase from nothing to one would not show in a rate. */
    ClaimCalls(ClaimOperations operations, InstantSource clock, Meters meters) {
        this.operations = operations;
        this.clock = clock;
        this.meters = meters;
        for (String operation : List.of(PREPARE, UNPREPARE)) {
            meters.count(Metric.CLAIMS, 0, operation, SUCCESS);
            meters.count(Metric.CLAIMS, 0, operation, ERROR);
        }
    }

    Map<String, PrepareOutcome> prepare(List<Claim> requested) {
        Map<String, PrepareOutcome> results = new LinkedHashMap<>();
        Map<String, ClaimRef> claims = new LinkedHashMap<>();
        for (Claim claim : requested) {
            String uid = claim.getUid();
            try {
                claims.put(uid, new ClaimRef(claim.getNamespace(), claim.getName(), uid));
            } catch (IllegalArgumentException e) {
                results.put(uid, new PrepareOutcome.Failed(e.getMessage()));
            }
        }
        Context call = Context.current(); // cancelled by the kubelet, by the end of its connection, and by the answer
        measured(
                        PREPARE,
                        () -> operations.prepare(List.copyOf(claims.values()), deadline(), call::isCancelled),
                        PrepareOutcome.Failed.class)
                .forEach((ref, outcome) -> results.put(ref.uid(), outcome));
        return results;
    }

    /** Only the UID identifies a claim; a claim whose UID is malformed was never prepared. */
    Map<String, UnprepareOutcome> unprepare(List<Claim> requested) {
        Map<String, UnprepareOutcome> results = new LinkedHashMap<>();
        requested.forEach(claim -> results.put(claim.getUid(), new UnprepareOutcome.Unprepared()));
        List<String> claims = results.keySet().stream().filter(ClaimRef::isUid).toList();
        results.putAll(
                measured(UNPREPARE, () -> operations.unprepare(claims, deadline()), UnprepareOutcome.Failed.class));
        return results;
    }

    /** Responds to a call; its log lines, and those of the work it asks for, carry one id. */
    static <T> void respond(StreamObserver<T> response, Supplier<T> call) {
        MDC.put(LogField.OP_ID, Long.toString(OPERATIONS.incrementAndGet()));
        try {
            response.onNext(call.get());
            response.onCompleted();
        } catch (RuntimeException e) { // the edge
            LOG.error("A call of the kubelet failed unexpectedly; please report this as a dra4j bug", e);
            response.onError(Status.INTERNAL
                    .withDescription("internal error of the driver; see its log")
                    .asRuntimeException());
        } finally {
            MDC.remove(LogField.OP_ID);
        }
    }

    /** A call without claims is a probe, and not measured. */
    private <K, T> Map<K, T> measured(String operation, Supplier<Map<K, T>> call, Class<? extends T> failed) {
        long start = System.nanoTime();
        Map<K, T> outcomes = call.get();
        if (!outcomes.isEmpty()) {
            meters.time(Metric.CALLS, Duration.ofNanos(System.nanoTime() - start), operation);
            long errors = outcomes.values().stream().filter(failed::isInstance).count();
            meters.count(Metric.CLAIMS, errors, operation, ERROR);
            meters.count(Metric.CLAIMS, outcomes.size() - errors, operation, SUCCESS);
        }
        return outcomes;
    }

    private Instant deadline() {
        Deadline deadline = Context.current().getDeadline();
        long left = deadline == null
                ? KUBELET_DEADLINE.toMillis()
                : Math.min(deadline.timeRemaining(TimeUnit.MILLISECONDS), KUBELET_DEADLINE.toMillis());
        return clock.instant().plusMillis(left);
    }
}
