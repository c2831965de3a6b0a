// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.http.HttpPages;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The HTTP pages of a driver process that was started with {@link #OPTION}. */
record DriverPages(HttpPages pages) {

    /** Any port that is free: the driver's log says which. */
    static final String OPTION = "--http-endpoint=127.0.0.1:0";

    private static final Pattern SERVING = // in the text format or in JSON
            Pattern.compile("(?m)^(?=.*Serving metrics and probes).*(127\\.0\\.0\\.1:[0-9]+).*$");
    private static final Pattern SAMPLE =
            Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{[^}]*})? ([-+.0-9eE]+|NaN|[+-]Inf)");

    /** Waits until as many processes as that have said where they serve; the pages of the last. */
    static DriverPages ofProcess(int number, TestNode node) throws IOException, InterruptedException {
        try (WatchService watch = node.place().root().getFileSystem().newWatchService()) {
            WatchKey key = node.place().root().register(watch, StandardWatchEventKinds.ENTRY_MODIFY);
            while (true) {
                List<MatchResult> all = SERVING.matcher(node.log()).results().toList();
                if (all.size() >= number) {
                    URI server = URI.create("http://" + all.get(number - 1).group(1));
                    return new DriverPages(new HttpPages(server));
                }
                assertThat(watch.poll(TestNode.TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                        .as(node.log())
                        .isNotNull();
                key.pollEvents();
                key.reset();
            }
        }
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
