// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.HeldPrepare;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Connections to the API server that go silent, as behind a load balancer that has forgotten them. */
@ExecutionGroup.On(ExecutionGroup.CONNECTIONS)
record ConnectionRules(TestContext context) {

    /** Requests of client-go, by the media types that it accepts: its user agent is the driver's choice. */
    private static final Pattern CLIENT_GO_WITHOUT_PINGS =
            Pattern.compile("HTTP/1\\.1 .*\\[application/(json, \\*/\\*|vnd\\.kubernetes\\.protobuf.*)]");

    @Rule("DRA-PREP-37")
    void aPrepareOutlivesASilentConnection() {
        Silence seen = context.shared(Silence.class, () -> Silence.of(context));
        NotApplicable.unless(seen.reads(), "the driver prepares a claim without a request to the API server");
        judge(seen.prepared(), "while a prepare waited, and the claim is not prepared");
    }

    @Rule("DRA-SLICE-22")
    void aSilentWatchIsNoticed() throws InterruptedException {
        Silence seen = context.shared(Silence.class, () -> Silence.of(context));
        NotApplicable.unless(seen.watches(), "the driver watches no ResourceSlices");
        Silence.End end = seen.repaired().join();
        if (!end.fault().isEmpty()) {
            new Publishing(context).repair(seen.before());
        }
        judge(end, "its watch included, and a slice that another client deleted then is not back");
    }

    static boolean lacksPings(RecordedRequest request) {
        return CLIENT_GO_WITHOUT_PINGS.matcher(request.client()).matches();
    }

    /** Over plain HTTP, which external drivers use, client-go lacks HTTP/2 and its pings. */
    private void judge(Silence.End end, String what) {
        context.measurements().add(end.took());
        Untested.unless(
                end.fault().isEmpty()
                        || context.proxy().requests(ConnectionRules::lacksPings).isEmpty(),
                "the driver speaks HTTP/1.1 here: client-go detects silent connections by HTTP/2 pings, which it uses in clusters");
        Violation.unless(end.fault().isEmpty())
                .because(
                        "all connections of the driver to the API server went silent, %s %d s later: %s",
                        what, context.timeouts().silence().toSeconds(), end.fault());
    }

    /**
     * All connections of the driver to the API server go silent at the same time, while a prepare waits for an
     * answer, and a slice is deleted then: one wait for all rules about it.
     *
     * @param reads whether the prepare asked the API server for anything
     * @param prepared how the prepare, or its repetition, ended
     * @param before the pools before it
     * @param watches whether the driver watched its slices
     * @param repaired how the repair of the slices ends
     */
    private record Silence(
            boolean reads, End prepared, SeenPools before, boolean watches, CompletableFuture<End> repaired) {

        private static final Predicate<RecordedRequest> OPEN_WATCH =
                Requests.watches("resourceslices").and(RecordedRequest::open);
        private static final Duration WATCH_LIMIT = Duration.ofSeconds(10);

        /** The end of a wait: the fault after the limit, or none, and the time since the connections went silent. */
        public record End(String fault, Measured took) {

            private static End of(String what, String fault, long begin, Duration limit) {
                Duration took = fault.isEmpty() ? Duration.ofNanos(System.nanoTime() - begin) : limit;
                return new End(fault, Measured.time("time until the " + what, took, limit, !fault.isEmpty()));
            }
        }

        public static Silence of(TestContext context) {
            Publishing publishing = new Publishing(context);
            // a driver that has just started, or lost its watch in the previous rule, soon has one
            boolean isWatched = context.awaitPools() && context.isRequested(WATCH_LIMIT, OPEN_WATCH);
            SeenPools before = publishing.now();
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

        private static String difference(Publishing publishing, SeenPools before, Duration limit) {
            try {
                boolean like = publishing.await(Publishing.like(before), limit).isPresent();
                return like ? "" : publishing.now().difference(before);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
    }
}
