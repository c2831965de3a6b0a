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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/**
 * A prepare that waits because the API server does not answer what the driver asks of the claim.
 */
public final class HeldPrepare implements AutoCloseable {

    private static final Duration LOOK = Duration.ofMillis(300);
    private static final Duration FOREVER = Duration.ofMinutes(10);

    private final TestContext context;
    private final KubeletClaim claim;
    private final Injection fault;
    private final CompletableFuture<CallResult> call;

    private HeldPrepare(
            TestContext context,
            KubeletClaim claim,
            Injection fault,
            CompletableFuture<CallResult> call) {
        this.context = context;
        this.claim = claim;
        this.fault = fault;
        this.call = call;
    }

    /**
     * Begins the prepare of a claim, and returns when the driver waits for the API server.
     *
     * @throws NotApplicable if it does not ask the API server
     */
    public static HeldPrepare of(TestContext context, KubeletClaim claim) {
        int before = context.proxy().lastNumber();
        Injection fault = context.inject(Fault.delay(FOREVER).on(readsOf(claim)));
        CompletableFuture<CallResult> call = Calls.async(() -> context.calls().prepare(claim));
        HeldPrepare held = new HeldPrepare(context, claim, fault, call);
        if (!comes(context, readsOf(claim).and(Requests.after(before)), call)) {
            held.close();
            throw new NotApplicable("the driver prepares a claim without a read of its object");
        }
        return held;
    }

    /**
     * Returns whether a request comes before a call has ended: a slow driver has the call's time
     * for it.
     */
    static boolean comes(
            TestContext context,
            Predicate<RecordedRequest> request,
            CompletableFuture<CallResult> call) {
        while (true) {
            boolean over = call.isDone();
            try {
                context.proxy().await(LOOK, request);
                return true;
            } catch (AssertionError e) {
                if (over) {
                    return false;
                }
            }
        }
    }

    /** The requests for a claim's object. */
    public static Predicate<RecordedRequest> readsOf(KubeletClaim claim) {
        return Requests.to("resourceclaims").and(r -> r.name().equals(claim.name()));
    }

    /** The claim. */
    KubeletClaim claim() {
        return claim;
    }

    /** Returns whether the prepare has not ended. */
    public boolean isWaiting() {
        return !call.isDone();
    }

    /** Lets the API server answer, and waits until the prepare has ended, however it does. */
    @Override
    public void close() {
        fault.close();
        try {
            call.get(Timeouts.PREPARE.toMillis() + 5000, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("a prepare outlived its deadline", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
