// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** A prepare that waits because the API server does not answer the driver's requests about claims. */
public record HeldPrepare(Injection fault, CompletableFuture<CallResult> call) implements AutoCloseable {

    private static final Duration LOOK = Duration.ofMillis(300);
    private static final Duration FOREVER = Duration.ofMinutes(10);

    /** Begins a prepare, and returns when the driver waits for the claim's object; NotApplicable if it does not. */
    public static HeldPrepare ofReads(TestContext context, KubeletClaim claim) {
        return of(context, claim, readsOf(claim), FOREVER)
                .orElseThrow(() -> new NotApplicable("the driver prepares a claim without reading its object"));
    }

    /** Begins a prepare that waits for any claim; empty if the driver asks for none. */
    public static Optional<HeldPrepare> of(TestContext context, KubeletClaim claim) {
        return of(context, claim, FOREVER);
    }

    /** The same, with an end: after this time, the API server answers. */
    public static Optional<HeldPrepare> of(TestContext context, KubeletClaim claim, Duration delay) {
        return of(context, claim, Requests.to("resourceclaims"), delay);
    }

    private static Optional<HeldPrepare> of(
            TestContext context, KubeletClaim claim, Predicate<RecordedRequest> requests, Duration delay) {
        int before = context.proxy().lastNumber();
        Injection fault = context.inject(Fault.delay(delay).on(requests));
        CompletableFuture<CallResult> call = Calls.async(() -> context.calls().prepare(claim));
        HeldPrepare held = new HeldPrepare(fault, call);
        if (held.waitsFor(requests.and(Requests.after(before)), context)) {
            return Optional.of(held);
        }
        held.close();
        return Optional.empty();
    }

    /** Returns whether a request arrives before the call has ended; slow drivers have time for that. */
    private boolean waitsFor(Predicate<RecordedRequest> request, TestContext context) {
        while (true) {
            boolean over = call.isDone();
            if (context.isRequested(LOOK, request)) {
                return true;
            }
            if (over) {
                return false;
            }
        }
    }

    public static Predicate<RecordedRequest> readsOf(KubeletClaim claim) {
        return Requests.to("resourceclaims").and(r -> r.name().equals(claim.name()));
    }

    public boolean isWaiting() {
        return !call.isDone();
    }

    /** Lets the API server answer. */
    public void release() {
        fault.close();
    }

    /** Waits for the end of the prepare, and returns its result. */
    public CallResult end() throws InterruptedException, ExecutionException, TimeoutException {
        return call.get(Timeouts.PREPARE.toMillis() + 5000, TimeUnit.MILLISECONDS);
    }

    /** Lets the API server answer, and waits until the prepare has ended, with any result. */
    @Override
    public void close() {
        release();
        try {
            end();
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("a prepare outlived its deadline", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
