// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rules for alerts and dashboards of each driver's chart; the test of a driver extends this. */
public abstract class MonitoringContract {

    private static final HelmChart CHART = ChartContract.CHART;
    private static final Path ALL_PARTS = Path.of("deploy/values/all-parts.yaml");
    private static final Path DOCS = Path.of("../docs-site");
    private static final Pattern LABEL_IN_MESSAGE = Pattern.compile("\\$labels\\.([a-z_]+)");
    private static final Pattern LABEL_IN_LEGEND = Pattern.compile("\\{\\{([a-z_]+)}}");
    private static final int GRID_WIDTH = 24;

    private static Manifests withAllParts() {
        return CHART.render(ChartInstallation.DEFAULT.file(ALL_PARTS));
    }

    @Test
    void eachAlertUsesMetricsAndLabelsThatAreServed() throws IOException {
        Map<String, Set<String>> served = MetricsPage.labels(DOCS);
        Manifests manifests = withAllParts();
        String driver = DriverContainer.of(manifests).environment().get("DRIVER_NAME");
        JsonNode rules = manifests.one(Kind.PrometheusRule).at("/spec/groups/0/rules");

        assertThat(rules).hasSizeGreaterThan(10);
        for (JsonNode rule : rules) {
            PromQuery query = new PromQuery(rule.path("expr").asText());
            String alert = rule.path("alert").asText();
            assertThat(query.text()).as(alert).contains("driver=\"" + driver + "\"");
            assertThat(query.metrics()).as(alert).isNotEmpty();
            assertThat(query.problems(served)).as(alert).isEmpty();
            assertThat(labels(LABEL_IN_MESSAGE, rule.path("annotations").toString()))
                    .as(alert)
                    .isSubsetOf(query.resultLabels(served));
        }
    }

    private static List<String> alerts(Manifests manifests) {
        return manifests.one(Kind.PrometheusRule).at("/spec/groups/0/rules").findValuesAsText("alert");
    }

    @Test
    void eachAlertHasARowOnThePage() throws IOException {
        String page = Files.readString(DOCS.resolve("how-to/monitor.md"));

        assertThat(alerts(withAllParts())).allMatch(alert -> page.contains("`" + alert + "`"));
    }

    /** Without the process, the alert on its absence would never end. */
    @Test
    void alertsOnClaimsThatWaitComeWithTheProcessAndNameIt() {
        Manifests all = withAllParts();
        Manifests without =
                CHART.render(ChartInstallation.DEFAULT.file(ALL_PARTS).set("claimMetrics.enabled", false));
        List<String> ofClaims = new ArrayList<>(alerts(all));
        ofClaims.removeAll(alerts(without));
        JsonNode rules = all.one(Kind.PrometheusRule).at("/spec/groups/0/rules");
        JsonNode process = all.one(Kind.Deployment);

        assertThat(ofClaims).containsExactly("DraClaimWaits", "DraClaimsNotListed", "DraClaimMetricsAbsent");
        assertThat(rules.path(rules.size() - 1).at("/annotations/description").asText())
                .contains(" -n " + process.at("/metadata/namespace").asText() + " logs ")
                .contains("logs deployment/" + process.at("/metadata/name").asText() + " ")
                .contains(process.at("/spec/selector/matchLabels").properties().stream()
                        .map(one -> one.getKey() + "=" + one.getValue().asText())
                        .sorted()
                        .collect(Collectors.joining(",", "--selector=", "`")));
    }

    @Test
    void eachDashboardUsesMetricsAndLabelsThatAreServed() throws IOException {
        Map<String, Set<String>> served = MetricsPage.labels(DOCS);
        JsonNode data = withAllParts().one(Kind.ConfigMap).path("data");

        assertThat(data).hasSize(2);
        for (JsonNode file : data) {
            JsonNode dashboard = Manifests.MAPPER.readTree(file.asText());
            String title = dashboard.path("title").asText();
            assertThat(dashboard.path("panels")).as(title).hasSizeGreaterThan(8);
            for (JsonNode panel : dashboard.path("panels")) {
                for (JsonNode target : panel.path("targets")) {
                    PromQuery query = new PromQuery(target.path("expr").asText());
                    String name = title + ": " + panel.path("title").asText();
                    assertThat(query.metrics()).as(name).isNotEmpty();
                    assertThat(query.problems(served)).as(name).isEmpty();
                    assertThat(labels(
                                    LABEL_IN_LEGEND, target.path("legendFormat").asText()))
                            .as(name)
                            .isSubsetOf(query.resultLabels(served));
                }
            }
            for (JsonNode variable : dashboard.at("/templating/list")) {
                PromQuery query = new PromQuery(variable.path("definition").asText());
                assertThat(query.problems(served)).as(title).isEmpty();
            }
        }
    }

    /** Grafana's sidecar writes the files of all ConfigMaps into one folder, where each UID may be once. */
    @Test
    void releasesHaveTheirDashboardsInTheSameFiles() throws IOException {
        JsonNode data = withAllParts().one(Kind.ConfigMap).path("data");

        for (Map.Entry<String, JsonNode> file : data.properties()) {
            JsonNode dashboard = Manifests.MAPPER.readTree(file.getValue().asText());
            assertThat(file.getKey()).isEqualTo(dashboard.path("uid").asText() + ".json");
        }
    }

    @Test
    void noPanelOfADashboardLiesOnAnother() throws IOException {
        for (JsonNode file : withAllParts().one(Kind.ConfigMap).path("data")) {
            Set<List<Integer>> taken = new HashSet<>();
            Set<Integer> ids = new HashSet<>();
            for (JsonNode panel : Manifests.MAPPER.readTree(file.asText()).path("panels")) {
                JsonNode at = panel.path("gridPos");
                assertThat(ids.add(panel.path("id").asInt()))
                        .as("id of " + panel)
                        .isTrue();
                for (int x = 0; x < at.path("w").asInt(); x++) {
                    for (int y = 0; y < at.path("h").asInt(); y++) {
                        List<Integer> cell =
                                List.of(at.path("x").asInt() + x, at.path("y").asInt() + y);
                        assertThat(taken.add(cell))
                                .as(panel.path("title").asText())
                                .isTrue();
                        assertThat(cell.get(0)).isLessThan(GRID_WIDTH);
                    }
                }
            }
        }
    }

    private static Set<String> labels(Pattern pattern, String text) {
        Set<String> labels = new TreeSet<>();
        pattern.matcher(text).results().forEach(label -> labels.add(label.group(1)));
        return labels;
    }

    /**
     * Otherwise, the labels namespace and pod would be those of the driver, and those of the claim would be renamed.
     */
    @Test
    void aScrapeKeepsTheLabelsOfClaims() {
        assertThat(withAllParts().of(Kind.PodMonitor))
                .hasSize(2)
                .allMatch(monitor ->
                        monitor.at("/spec/podMetricsEndpoints/0/honorLabels").asBoolean());
    }

    /**
     * The reference page of metrics, which matches a scrape: a test of the runtime compares names, types and labels.
     */
    static final class MetricsPage {

        private static final Pattern CODE = Pattern.compile("`([a-z_]+)`");

        /** The section of metrics that belong to no node. */
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
}
