// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ProcessCount;
import io.dra4j.conformance.probes.Rounds;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Rules for the cost of calls: time, requests, and memory of the process. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record PerformanceRules(TestContext context) {

    private static final List<Integer> SIZES = List.of(32, 8, 1);
    private static final Set<String> WATCHED = Set.of("resourceclaims", "pods", "nodes");
    private static final int WARM_UP = 20;
    private static final int FEW = 50;

    @Rule("DRA-PERF-01")
    void aLargeClaimIsPreparedInTime() {
        List<PublishedDevice> usable = context.devices().forOneClaim(Collections.max(SIZES));
        List<String> remarks = new ArrayList<>();
        for (int size : SIZES) {
            int results = Math.min(size, usable.size());
            List<Duration> prepares = new ArrayList<>();
            List<Duration> unprepares = new ArrayList<>();
            Rounds rounds = new Rounds(5, Duration.ofSeconds(3));
            while (rounds.next()) {
                KubeletClaim claim = context.claims().allocate(usable.subList(0, results));
                prepares.add(timed("prepare", results, () -> context.calls().prepare(claim)));
                unprepares.add(timed("unprepare", results, () -> context.calls().unprepare(claim)));
            }
            remarks.add("%d results: Prepare %s, Unprepare %s"
                    .formatted(results, quantiles(prepares), quantiles(unprepares)));
        }
        context.remark(String.join("; ", remarks));
    }

    private Duration timed(String call, int results, Supplier<CallResult> work) {
        long begin = System.nanoTime();
        CallResult result = work.get();
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        context.measurements()
                .time("slowest %s of a claim with %d results".formatted(call, results), took, Timeouts.PREPARE);
        Violation.unless(took.compareTo(Timeouts.PREPARE) < 0)
                .because(
                        "%s of a claim with %d results took longer than %d s, when the kubelet gives up",
                        call, results, Timeouts.PREPARE.toSeconds());
        Violation.unless(result.complaint().isEmpty())
                .about("DRA-PREP-01", "DRA-SLICE-19")
                .because(
                        "%s of a claim with %d results failed: %s",
                        call, results, result.complaint().orElse(""));
        return took;
    }

    private static String quantiles(List<Duration> times) {
        Collections.sort(times);
        return "p50 %d ms, p99 %d ms"
                .formatted(
                        times.get(times.size() / 2).toMillis(),
                        times.get(times.size() - 1).toMillis());
    }

    @Rule("DRA-PERF-02")
    void aPrepareReadsItsClaimOnce() {
        PublishedDevice device = context.devices().one();
        for (int i = 0; i < 3; i++) {
            KubeletClaim claim = context.claims().allocate(device);
            int before = context.proxy().lastNumber();
            context.calls().prepared(claim);
            List<String> prepare = reads(before);
            context.measurements().count("reads of the API server by a prepare", prepare.size(), 1);
            Violation.unless(prepare.size() <= 1)
                    .because("one Prepare cost %d reads of the API server: %s", prepare.size(), prepare);
            before = context.proxy().lastNumber();
            context.calls().unprepared(claim);
            List<String> unprepare = reads(before);
            context.measurements().count("reads of the API server by an unprepare", unprepare.size(), 0);
            Violation.unless(unprepare.isEmpty()).because("an Unprepare cost reads of the API server: %s", unprepare);
        }
    }

    private List<String> reads(int since) {
        return context.proxy().requests(Requests.after(since)).stream()
                .filter(request -> request.method().equals("GET"))
                .filter(request -> WATCHED.contains(request.resource()))
                .map(RecordedRequest::path)
                .toList();
    }

    @Rule("DRA-PERF-03")
    void nothingPilesUp() throws IOException {
        PublishedDevice device = context.devices().one();
        boolean soak = context.settings().soak();
        rounds(device, new Rounds(WARM_UP, Duration.ofSeconds(20)));
        ProcessCount before = ProcessCount.of(context);
        Untested.unless(before.files() > 0, "nothing is known of the driver's process");
        long files = files();
        Rounds rounds = new Rounds(soak ? 1000 : 200, Duration.ofSeconds(soak ? 300 : 25));
        rounds(device, rounds);
        Untested.unless(rounds.done() >= FEW, "the driver is too slow: %d rounds only", rounds.done());
        ProcessCount after = ProcessCount.of(context);
        int spare = rounds.done() / 4;
        grew("open files", before.files(), after.files(), rounds.done(), spare);
        grew("threads", before.threads(), after.threads(), rounds.done(), spare);
        grew("files on disk", files, files(), rounds.done(), spare);
        context.remark("%d rounds".formatted(rounds.done()));
    }

    private void rounds(PublishedDevice device, Rounds rounds) {
        while (rounds.next()) {
            KubeletClaim claim = context.unpreparedClaim(device);
            context.claims().deleteObject(claim);
        }
    }

    private long files() throws IOException {
        try (Stream<Path> all = Files.walk(context.place().root())) {
            return all.count();
        }
    }

    private void grew(String what, long before, long after, int rounds, int spare) {
        context.measurements().count("growth in %s".formatted(what), Math.max(0, after - before), spare - 1);
        Violation.unless(after < before + spare)
                .because(
                        "after %d rounds of prepare and unprepare, the driver has %d %s, before it had %d",
                        rounds, after, what, before);
    }
}
