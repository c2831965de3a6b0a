// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Globs;
import io.dra4j.conformance.probes.Idle;
import io.dra4j.conformance.probes.ProcessCount;
import io.dra4j.conformance.probes.Rounds;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rules for the cost of calls: time, requests, and memory of the process; and for the counts in its metrics. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record PerformanceRules(TestContext context) {

    private static final int CALLS = 3;
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*(?:\\{.*\\})?)\\s+([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|Inf|NaN))(?:\\s+\\S+)?(?: #.*)?");
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
                        "%s of a claim with %d results took longer than %d s, after which the kubelet gives up",
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
        Idle.await(context); // reads of a start do not count as a cost of a call
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
    void nothingPilesUp() {
        PublishedDevice device = context.devices().one();
        boolean soak = context.settings().soak();
        rounds(device, new Rounds(WARM_UP, Duration.ofSeconds(20)));
        ProcessCount before = ProcessCount.of(context);
        Untested.unless(before.files() > 0, "nothing is known about the driver's process");
        int files = files();
        Rounds rounds = new Rounds(soak ? 1000 : 200, Duration.ofSeconds(soak ? 300 : 25));
        rounds(device, rounds);
        Untested.unless(rounds.done() >= FEW, "the driver is too slow: only %d rounds", rounds.done());
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

    private int files() {
        return Globs.below(context.place().root()).size();
    }

    private void grew(String what, long before, long after, int rounds, int spare) {
        context.measurements().count("growth in %s".formatted(what), Math.max(0, after - before), spare - 1);
        Violation.unless(after < before + spare)
                .because(
                        "after %d rounds of prepare and unprepare, the driver has %d %s instead of %d",
                        rounds, after, what, before);
    }

    /** Is in this group because, of two instances of a driver, only one can have the port of the metrics. */
    @Rule("DRA-MET-01")
    @ExecutionGroup.On(ExecutionGroup.CALLS)
    void callsAreCounted() throws InterruptedException {
        NotApplicable.unless(!context.settings().driver().metrics().isEmpty(), "the settings name no metrics");
        Map<String, Double> first = samples();
        for (int i = 0; i < CALLS; i++) {
            context.unpreparedClaim(context.devices().one());
        }
        Map<String, Double> second = samples();
        Violation.unless(second.entrySet().stream().anyMatch(now -> counts(grew(first, now))))
                .because(
                        "no metric counts calls: after %d Prepares and as many Unprepares, none had grown by as many",
                        CALLS);
        for (int i = 0; i < CALLS; i++) {
            context.calls().prepare(Absent.claim(context));
        }
        Set<String> ofErrors = new TreeSet<>();
        samples().entrySet().stream()
                .filter(now -> grew(second, now) == CALLS)
                .map(Map.Entry::getKey)
                .filter(name -> second.getOrDefault(name, 0.0).equals(first.getOrDefault(name, 0.0)))
                .map(name -> name.replaceFirst("\\{.*", ""))
                .forEach(ofErrors::add);
        Violation.unless(!ofErrors.isEmpty())
                .because(
                        "no metric distinguishes failed calls from others: after %d failed Prepares, none has grown that had not grown before",
                        CALLS);
        context.remark("failed calls are counted by " + ofErrors);
    }

    /** Counts each kind of calls separately, or both together; a counter that grows by more counts something else. */
    private static boolean counts(double growth) {
        return growth == CALLS || growth == 2 * CALLS;
    }

    private static double grew(Map<String, Double> before, Map.Entry<String, Double> now) {
        return now.getValue() - before.getOrDefault(now.getKey(), 0.0);
    }

    private Map<String, Double> samples() throws InterruptedException {
        URI url = URI.create(context.driver().fill(context.settings().driver().metrics()));
        HttpResponse<String> response = read(url);
        Violation.unless(response.statusCode() == 200)
                .because("the metrics at %s were answered with status %d", url, response.statusCode());
        return samples(response.body().lines().map(String::strip).toList());
    }

    private static HttpResponse<String> read(URI url) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(url).timeout(LIMIT).build();
        try {
            return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new Violation("according to the settings, metrics are at %s: %s", url, e);
        }
    }

    /** The value of each sample, except for gauges, which count nothing, and parts of histograms. */
    private static Map<String, Double> samples(List<String> lines) {
        Map<String, Double> samples = new TreeMap<>();
        for (String line : lines) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                Matcher sample = SAMPLE.matcher(line);
                Violation.unless(sample.matches()).because("the metrics have an invalid line: %s", line);
                String name = sample.group(1);
                boolean counts = !lines.contains("# TYPE " + name.replaceFirst("\\{.*", "") + " gauge")
                        && !name.contains("le=\"");
                if (counts) {
                    samples.put(name, Double.parseDouble(sample.group(2).replace("Inf", "Infinity")));
                }
            }
        }
        return samples;
    }
}
