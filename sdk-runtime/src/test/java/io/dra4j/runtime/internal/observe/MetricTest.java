// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MetricTest {

    @Test
    void everyNameSaysWhoseItIs() {
        assertThat(Metric.values())
                .allSatisfy(
                        metric -> assertThat(metric.prometheusName()).matches("dra4j(_[a-z]+){2,}"))
                .extracting(Metric::prometheusName)
                .doesNotHaveDuplicates();
    }

    @Test
    void theReferencePageEndsWithWhatEachMetricMeasures() throws IOException {
        Stream<List<String>> head =
                Stream.of(
                        List.of("metric", "type", "labels", "what it measures"),
                        List.of("---", "---", "---", "---"));
        String table =
                Stream.concat(head, Arrays.stream(Metric.values()).map(MetricTest::row))
                        .map(cells -> "| " + String.join(" | ", cells) + " |\n")
                        .collect(Collectors.joining());

        assertThat(Files.readString(Path.of("../docs-site/reference/metrics.md")))
                .endsWith("\n\n" + table);
    }

    private static List<String> row(Metric metric) {
        return List.of(
                "`" + metric.prometheusName() + "`",
                metric.kind().prometheusType(),
                metric.labels().stream()
                        .map(label -> "`" + label + "`")
                        .collect(Collectors.joining(", ")),
                metric.meaning());
    }
}
