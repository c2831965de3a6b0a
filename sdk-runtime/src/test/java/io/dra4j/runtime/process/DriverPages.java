// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.http.HttpPages;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The HTTP pages of a driver process that was started with {@link #option}. */
record DriverPages(HttpPages pages) {

    private static final Pattern SAMPLE =
            Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{[^}]*})? ([-+.0-9eE]+|NaN|[+-]Inf)");

    /** The option with which the driver of a node serves them. */
    static String option(TestNode node) {
        return "--http-endpoint=127.0.0.1:" + node.place().freePort();
    }

    static DriverPages of(TestNode node) {
        return new DriverPages(node.pages());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return pages.get(path);
    }

    String await(String path, Predicate<HttpResponse<String>> condition) throws IOException, InterruptedException {
        return pages.await(path, condition);
    }

    void awaitReady() throws IOException, InterruptedException {
        await("/readyz", answer -> answer.statusCode() == 200);
    }

    /** The metrics, by their name and labels; each line must be one of the format. */
    Map<String, Double> scrape() throws IOException, InterruptedException {
        HttpResponse<String> page = get("/metrics");
        assertThat(page.statusCode()).isEqualTo(200);
        Map<String, Double> values = new HashMap<>();
        for (String line : page.body().lines().toList()) {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches()) {
                String id = sample.group(1) + (sample.group(2) == null ? "" : sample.group(2));
                assertThat(values.put(id, value(sample.group(3)))).as(line).isNull();
            } else {
                assertThat(line).matches("# (HELP [a-z0-9_]+ .+|TYPE [a-z0-9_]+ [a-z]+)");
            }
        }
        return values;
    }

    /** A metric of the driver; its name may bring labels of its own. */
    static double value(Map<String, Double> scrape, String name, String... labels) {
        List<String> ids = scrape.keySet().stream()
                .filter(id -> id.startsWith(name + "{"))
                .filter(id -> List.of(labels).stream().allMatch(id::contains))
                .toList();
        assertThat(ids).as(name + List.of(labels)).hasSize(1);
        assertThat(ids.get(0)).contains("driver=\"" + TestDriver.NAME + "\"", "node=\"node-1\"");
        return scrape.get(ids.get(0));
    }

    private static double value(String text) {
        return text.endsWith("Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
    }
}
