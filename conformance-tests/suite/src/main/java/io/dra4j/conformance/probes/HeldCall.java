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

/** A Prepare that waits for the API server, which holds the claim back until it is released. */
public final class HeldCall {

    private final CompletableFuture<CallResult> call;
    private final Injection holding;

    private HeldCall(CompletableFuture<CallResult> call, Injection holding) {
        this.call = call;
        this.holding = holding;
    }

    /**
     * Begins the call, and waits until the driver waits.
     *
     * @throws NotApplicable if it does not ask for the claim
     */
    public static HeldCall prepare(TestContext context, KubeletClaim claim) {
        return begin(context, claim)
                .orElseThrow(
                        () ->
                                new NotApplicable(
                                        "the driver does not read the claim when it prepares it"));
    }

    /** The same; empty if the driver does not ask for the claim. */
    public static Optional<HeldCall> begin(TestContext context, KubeletClaim claim) {
        return begin(context, claim, Duration.ofMinutes(10));
    }

    /** The same, with an end: after this time, the API server answers. */
    public static Optional<HeldCall> begin(
            TestContext context, KubeletClaim claim, Duration delay) {
        Predicate<RecordedRequest> gets =
                Requests.to("resourceclaims").and(Requests.after(context.proxy().lastNumber()));
        Injection holding = context.inject(Fault.delay(delay).on(Requests.to("resourceclaims")));
        CompletableFuture<CallResult> call = Calls.async(() -> context.calls().prepare(claim));
        if (!HeldPrepare.comes(context, gets, call)) {
            holding.close();
            call.join();
            return Optional.empty();
        }
        return Optional.of(new HeldCall(call, holding));
    }

    /** Lets the API server answer. */
    public void release() {
        holding.close();
    }

    /** Waits for the end of the call. */
    public CallResult end() throws InterruptedException, ExecutionException, TimeoutException {
        return call.get(Timeouts.PREPARE.toSeconds() + 5, TimeUnit.SECONDS);
    }
}
