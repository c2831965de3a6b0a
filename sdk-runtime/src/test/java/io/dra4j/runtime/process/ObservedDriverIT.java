// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static io.dra4j.runtime.process.TestDriver.NAME;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The driver's HTTP pages, while a kubelet calls it. */
@Tag("gate")
class ObservedDriverIT {

    private static final Path REFERENCE = Path.of("../docs-site/reference/metrics.md");

    @AutoClose
    private static TestNode node;

    private static DriverPages pages;

    @BeforeAll
    static void start() throws Exception {
        node = TestDriver.node();
        node.start(DriverPages.option(node));
        node.awaitRegistered();
        node.api().store().awaitObject("resourceslices", found -> true, TIMEOUT);
        pages = DriverPages.of(node);
        pages.awaitReady();
    }

    @Test
    void theMetricsTellHowTheDriverStands() throws Exception {
        Map<String, Double> scrape = pages.scrape();

        assertThat(value(scrape, "dra4j_published_slices")).isEqualTo(1);
        assertThat(value(scrape, "dra4j_unpublished_pools")).isZero();
        assertThat(value(scrape, "dra4j_registrations_total", "success")).isEqualTo(1);
        assertThat(value(scrape, "dra4j_registrations_total", "error")).isZero();
        assertThat(value(scrape, "dra4j_journal_damaged_lines_total")).isZero();
        assertThat(value(scrape, "dra4j_problems_total", "InvalidPool")).isZero();
        assertThat(value(scrape, "dra4j_build_info", "version=")).isEqualTo(1);
        assertThat(scrape).containsKey("process_files_open_files");
    }

    /** Queries of dashboards and alerts are compared with the page, and so with this scrape. */
    @Test
    void theDriversMetricsAreThoseOfTheReferencePage() throws Exception {
        node.kubelet().prepare(NAME, List.of(node.allocate("any", "gpu-7")));
        Set<String> scraped = pages.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("# TYPE dra4j_"))
                .filter(line -> !line.endsWith("_seconds_max gauge"))
                .map(line -> line.substring("# TYPE ".length()))
                .collect(Collectors.toCollection(TreeSet::new));

        Set<String> documented = Pattern.compile("\\| `(dra4j_[a-z_]+)` \\| ([a-z]+) \\|")
                .matcher(ofDrivers(Files.readString(REFERENCE)))
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .collect(Collectors.toCollection(TreeSet::new));
        documented.remove("dra4j_missing_permissions_total counter"); // there is none before one
        assertThat(scraped).hasSizeGreaterThan(10).isEqualTo(documented);
    }

    /** Claims that wait are seen by a process of the cluster alone. */
    private static String ofDrivers(String page) {
        int others = page.indexOf("## Claims that wait");
        return page.substring(0, others) + page.substring(page.indexOf("## The driver", others));
    }

    @Test
    void theFirstScrapeAfterAPrepareNamesClaimAndPod() throws Exception {
        KubeletClaim claim = node.allocate("measured", "gpu-6");
        TestDriver.reserve(node, claim, "trainer");
        node.kubelet().prepare(NAME, List.of(claim));

        Map<String, Double> scrape = pages.scrape();
        node.kubelet().unprepare(NAME, List.of(claim));

        String[] labels = {
            "namespace=\"default\"", "claim=\"measured\"", "pod=\"trainer\"", "device=\"gpu-6\"", "uuid=\"TEST-gpu-6\""
        };
        assertThat(value(scrape, "dra4j_device_info", labels)).isEqualTo(1);
        assertThat(value(scrape, "dra4j_device_power_watts", with(labels, "scope=\"device\"")))
                .isEqualTo(0.5);
        assertThat(value(scrape, "dra4j_device_power_watts", with(labels, "scope=\"parent\"")))
                .isEqualTo(1);
        assertThat(value(scrape, "dra4j_claim_latency_seconds_max", "device_class=\"" + NAME + "\""))
                .as("the time since the claim was created")
                .isBetween(0.0, 300.0);
        assertThat(pages.scrape().keySet())
                .as("they end with the claim")
                .noneMatch(id -> id.contains("claim=\"measured\""));
    }

    private static String[] with(String[] labels, String more) {
        return Stream.concat(Stream.of(labels), Stream.of(more)).toArray(String[]::new);
    }

    /** One driver goes the whole way from nothing to ready. */
    @Test
    void readinessNamesWhatIsMissingAndHealthDoesNotCare() throws Exception {
        try (TestNode alone = TestDriver.node()) {
            alone.kubelet().close();
            alone.proxy().down();
            alone.start(DriverPages.option(alone));
            DriverPages its = DriverPages.of(alone);

            String missing = its.await("/readyz", answer -> answer.body().contains("API server"));
            assertThat(missing)
                    .startsWith("not ready\nregistration: the kubelet has not confirmed it\n")
                    .contains("API server: ", "pool node-1: it is not written yet");
            assertThat(its.get("/healthz").statusCode()).isEqualTo(200);
            assertThat(value(its.scrape(), "dra4j_unpublished_pools")).isEqualTo(1);

            alone.proxy().up();
            alone.api().store().awaitObject("resourceslices", found -> true, TIMEOUT);
            String rest = its.await("/readyz", answer -> !answer.body().contains("node-1"));
            assertThat(rest).isEqualTo("not ready\nregistration: the kubelet has not confirmed it\n");

            try (FakeKubelet kubelet = FakeKubelet.start(alone.place().registry())) {
                assertThat(kubelet.awaitRegistered(NAME, TIMEOUT)).isTrue();
                its.awaitReady();

                alone.proxy().down();
                HttpResponse<String> health = its.get("/healthz");
                assertThat(health.statusCode()).isEqualTo(200);
            }
        }
    }
}
