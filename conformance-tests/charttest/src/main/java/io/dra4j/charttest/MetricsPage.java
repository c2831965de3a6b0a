// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The reference page of metrics, which has what a scrape has: a test of the runtime compares names, types and labels.
 */
final class MetricsPage {

    private static final Pattern CODE = Pattern.compile("`([a-z_]+)`");

    /** The section of metrics of no node. */
    private static final String OF_THE_CLUSTER = "## Claims that wait";

    private MetricsPage() {}

    /** Reads the labels of each metric. */
    static Map<String, Set<String>> labels(Path docs) throws IOException {
        Map<String, Set<String>> served = new TreeMap<>();
        Set<String> ofAll = Set.of("driver", "node");
        for (String line : Files.readAllLines(docs.resolve("reference/metrics.md"))) {
            if (line.startsWith("## ")) {
                ofAll = line.equals(OF_THE_CLUSTER) ? Set.of("driver") : Set.of("driver", "node");
            }
            if (line.startsWith("| `dra4j_")) {
                String[] cells = line.split("\\|");
                Set<String> labels = new TreeSet<>(ofAll);
                CODE.matcher(cells[3]).results().forEach(label -> labels.add(label.group(1)));
                served.put(cells[1].replace("`", "").trim(), labels);
            }
        }
        return served;
    }
}
