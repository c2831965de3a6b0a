// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rules for the counts in a driver's metrics; of one that has not been replaced by two instances,
 * of which one alone can have the port.
 */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record MetricsRules(TestContext context) {

    private static final int CALLS = 3;
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*(?:\\{.*\\})?)\\s+([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|Inf|NaN))(?:\\s+\\S+)?(?: #.*)?");

    @Rule("DRA-MET-01")
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

    /** Each kind of calls for itself, or both together; what grows by more is something else. */
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
            throw new Violation("by the settings, metrics are at %s: %s", url, e);
        }
    }

    /** The value of each sample, but for gauges, which count nothing, and parts of histograms. */
    private static Map<String, Double> samples(List<String> lines) {
        Map<String, Double> samples = new TreeMap<>();
        for (String line : lines) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                Matcher sample = SAMPLE.matcher(line);
                Violation.unless(sample.matches()).because("the metrics have a bad line: %s", line);
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
