// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page on monitoring. */
class MonitorPageTest {

    private static final Path DOCS = Path.of("../../docs-site");
    private static final Pattern QUERY =
            Pattern.compile("```promql\n(.*?)```|`([^`\n]*dra4j_[^`\n]*)`", Pattern.DOTALL);

    @Test
    void hasQueriesOfMetricsAndLabelsThatAreServed() throws IOException {
        Map<String, Set<String>> served = MonitoringContract.MetricsPage.labels(DOCS);
        List<String> queries = QUERY.matcher(Files.readString(DOCS.resolve("how-to/monitor.md")))
                .results()
                .map(one -> one.group(1) != null ? one.group(1) : one.group(2))
                .toList();

        assertThat(queries).hasSizeGreaterThan(12);
        for (String query : queries) {
            assertThat(new PromQuery(query).problems(served)).as(query).isEmpty();
        }
    }
}
