// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PromQueryTest {

    private static final Map<String, Set<String>> SERVED = Map.of(
            "dra4j_calls_seconds", Set.of("node", "operation"),
            "dra4j_power_watts", Set.of("node", "claim", "scope"),
            "dra4j_size_bytes", Set.of("node", "claim"));

    @Test
    void ofMetricsAndLabelsThatAreServedHasNoProblem() {
        for (String text : Set.of(
                "sum by (claim) (dra4j_power_watts{scope=\"device\",node=~\"$node\"}) > 0",
                "histogram_quantile(0.9, sum by (operation, le) (rate(dra4j_calls_seconds_bucket[5m])))",
                "rate(dra4j_calls_seconds_count{operation!~\"a|b\"}[$__rate_interval])",
                "dra4j_power_watts / on (node, claim) group_left () dra4j_size_bytes",
                "label_values(dra4j_size_bytes{node=\"a\"}, claim)",
                "dcgm * on (UUID) label_replace(dra4j_size_bytes, \"UUID\", \"$1\", \"claim\", \"(.+)\")",
                "up == 0")) {
            assertThat(new PromQuery(text).problems(SERVED)).as(text).isEmpty();
        }
    }

    @Test
    void namesEachMetricAndLabelThatIsNotServed() {
        assertThat(new PromQuery("sum(dra4j_power_wats)").problems(SERVED))
                .containsExactly("no metric dra4j_power_wats is served");
        assertThat(new PromQuery("dra4j_size_bytes{scope=\"device\"}").problems(SERVED))
                .containsExactly("dra4j_size_bytes has no label scope");
        assertThat(new PromQuery("sum by (pod) (dra4j_size_bytes)").problems(SERVED))
                .containsExactly("dra4j_size_bytes has no label pod");
        assertThat(new PromQuery("sum by (le) (dra4j_size_bytes)").problems(SERVED))
                .containsExactly("dra4j_size_bytes has no label le");
        assertThat(new PromQuery("dra4j_power_watts / on (scope) dra4j_size_bytes").problems(SERVED))
                .containsExactly("dra4j_size_bytes has no label scope");
        assertThat(new PromQuery("label_values(dra4j_size_bytes, pod)").problems(SERVED))
                .containsExactly("dra4j_size_bytes has no label pod");
    }

    @Test
    void hasTheLabelsOfItsGroupsOrOfItsMetrics() {
        assertThat(new PromQuery("sum by (claim) (dra4j_power_watts)").resultLabels(SERVED))
                .containsExactly("claim");
        assertThat(new PromQuery("dra4j_size_bytes > 1").resultLabels(SERVED)).containsExactly("claim", "node");
    }
}
