// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.MDC;

/**
 * Runs the operations of one claim one after the other, and those of different claims in parallel.
 *
 * <p>Operations of a claim run in the order in which they were submitted. An operation that equals
 * the last one submitted joins it: the kubelet repeats a call that it gave up, and the work must be
 * done once. No thread waits for another claim's operation. Thread-safe.
 */
final class ClaimQueue {

    private final Executor executor;
    private final Map<String, Operation<?>> last = new HashMap<>(); // guarded by this

    ClaimQueue(Executor executor) {
        this.executor = executor;
    }

    /**
     * Submits an operation of a claim, or joins an equal one that has not ended.
     *
     * <p>The future ends exceptionally if the work threw.
     */
    synchronized <T> CompletableFuture<T> submit(String uid, Class<T> result, Supplier<T> work) {
        Operation<?> before = last.get(uid);
        if (before != null && before.result == result) {
            return before.future.thenApply(result::cast);
        }
        Supplier<T> traced = inContextOfCaller(work);
        CompletableFuture<?> turn =
                before == null
                        ? CompletableFuture.completedFuture(null)
                        : before.future.handle((ended, failed) -> null);
        CompletableFuture<T> future = turn.thenApplyAsync(ignored -> traced.get(), executor);
        Operation<T> operation = new Operation<>(result, future);
        last.put(uid, operation);
        future.whenComplete((ended, failed) -> forget(uid, operation));
        return future;
    }

    /** Log lines of the work carry the operation id of the call that asked for it. */
    private static <T> Supplier<T> inContextOfCaller(Supplier<T> work) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        return () -> {
            MDC.setContextMap(context == null ? Map.of() : context);
            try {
                return work.get();
            } finally {
                MDC.clear();
            }
        };
    }

    private synchronized void forget(String uid, Operation<?> operation) {
        last.remove(uid, operation);
    }

    /** An operation that has not ended; its kind is told by the type of its result. */
    private record Operation<T>(Class<T> result, CompletableFuture<T> future) {}
}
