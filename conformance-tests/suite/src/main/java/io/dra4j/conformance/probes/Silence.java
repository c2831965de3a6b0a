// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * All connections of the driver to the API server go silent at once, while a prepare waits for an
 * answer, and a slice is deleted then: one wait for all rules about it.
 *
 * @param reads whether the prepare asked the API server for anything
 * @param prepared how the prepare, or its repetition, ended
 * @param before the pools before it
 * @param watches whether the driver watched its slices
 * @param repaired how the repair of the slices ends
 */
public record Silence(boolean reads, End prepared, Pools before, boolean watches, CompletableFuture<End> repaired) {

    private static final Predicate<RecordedRequest> OPEN_WATCH =
            Requests.watches("resourceslices").and(RecordedRequest::open);
    private static final Duration WATCH_LIMIT = Duration.ofSeconds(10);

    /**
     * An end that was waited for.
     *
     * @param fault what is wrong after the limit; empty if nothing is
     * @param took the time since the connections went silent
     */
    public record End(String fault, Measured took) {

        private static End of(String what, String fault, long begin, Duration limit) {
            Duration took = fault.isEmpty() ? Duration.ofNanos(System.nanoTime() - begin) : limit;
            return new End(fault, Measured.time("time until the " + what, took, limit, !fault.isEmpty()));
        }
    }

    public static Silence of(TestContext context) {
        Publishing publishing = new Publishing(context);
        boolean isWatched = context.awaitPools() && isWatched(context);
        Pools before = publishing.now();
        boolean watches = isWatched && before.settled();
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Optional<HeldPrepare> held = HeldPrepare.of(context, claim);
        context.transcript().note("all connections to the API server go silent");
        context.proxy().silence();
        long begin = System.nanoTime();
        held.ifPresent(HeldPrepare::release);
        Duration limit = context.timeouts().silence();
        CompletableFuture<End> prepared = Calls.async(() -> {
            held.ifPresent(HeldPrepare::close);
            Optional<String> complaint =
                    context.calls().prepareUntil(claim, limit).complaint();
            return End.of("claim was prepared", complaint.orElse(""), begin, limit);
        });
        if (watches) {
            publishing.delete(before.slices().get(0));
        }
        CompletableFuture<End> repaired = Calls.async(
                () -> End.of("deleted slice was back", difference(publishing, before, limit), begin, limit));
        return new Silence(held.isPresent(), prepared.join(), before, watches, repaired);
    }

    /** A driver that has just started, or lost its watch in the rule before, soon has one. */
    private static boolean isWatched(TestContext context) {
        try {
            context.proxy().await(WATCH_LIMIT, OPEN_WATCH);
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    private static String difference(Publishing publishing, Pools before, Duration limit) {
        try {
            boolean like = publishing.await(Publishing.like(before), limit).isPresent();
            return like ? "" : publishing.now().difference(before);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
