// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
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
    void theReferencePageSaysWhatEachMetricMeasures() throws IOException {
        ReferencePage.named("metrics.md")
                .assertEndsWith(
                        List.of("metric", "type", "labels", "what it measures"),
                        Arrays.stream(Metric.values()).map(MetricTest::row).toList());
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
