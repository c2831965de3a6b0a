// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rules for each driver's program as the process that serves metrics of waiting claims, with the arguments, the
 * variables and the rights that the chart gives it; a test of the driver extends this.
 */
public abstract class ClaimMetricsProgramContract {

    private static final String CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata:
              name: waits
              annotations: {resource.kubernetes.io/pod-claim-name: gpu}
            spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}
            """;

    @TempDir
    private Path folder;

    /** The program, without arguments. */
    protected abstract List<String> program();

    private static Manifests manifests() {
        return ChartContract.CHART.render(ChartInstallation.DEFAULT.set("claimMetrics.enabled", true));
    }

    private static JsonNode claim() throws Exception {
        return Manifests.MAPPER.readTree(CLAIM);
    }

    @Test
    void itServesClaimsThatWaitWithTheRightsOfTheChartUntilItIsTerminated() throws Exception {
        try (TestNode process = node(manifests())) {
            start(process);
            process.api().store().put(claim());

            assertThat(process.pages().await("/metrics", page -> page.body().contains("dra4j_pending_claims{")))
                    .contains("device_class=\"gpu.example.com\",driver=\"", "for_pod=\"true\"} 1.0\n");
            assertThat(process.pages().get("/healthz").body()).isEqualTo("ok\n");
            assertThat(process.pages().get("/readyz").body()).isEqualTo("ready\n");
            assertThat(Right.refused(process.proxy())).isEmpty();
            assertThat(process.terminate()).isZero();
        }
    }

    @Test
    void withoutOneOfItsRightsItSaysWhichIsMissing() throws Exception {
        assertThat(Right.of(Right.CLAIM_METRICS)).isNotEmpty();
        for (Right right : Right.of(Right.CLAIM_METRICS)) {
            Manifests manifests = manifests();
            assertThat(right.removeFrom(manifests.of(Kind.ClusterRole))).isTrue();
            try (TestNode process = node(manifests)) {
                start(process);
                process.api().store().put(claim());

                assertThat(process.pages().await("/metrics", page -> page.body().contains("missing_permissions")))
                        .doesNotContain("dra4j_pending")
                        .containsPattern("dra4j_claim_list_failures_total\\{[^}]*} [1-9]")
                        .containsPattern(
                                "dra4j_missing_permissions_total\\{[^}]*verb=\"%s\"} [1-9]".formatted(right.verb()));
                assertThat(Right.refused(process.proxy())).containsExactly(right.toString());
                assertThat(process.pages().get("/readyz").body()).contains("no list of claims: ", right.verb());
            }
        }
    }

    /** A process of a chart's Deployment of claim metrics, with its own API server. */
    private TestNode node(Manifests manifests) {
        DriverContainer container = DriverContainer.ofDeployment(manifests);
        List<String> command = new ArrayList<>(program());
        command.addAll(container.arguments());
        Map<String, String> environment = container.environment();
        environment.put("HTTP_ENDPOINT", "127.0.0.1:{FREE_PORT}");
        String driver = environment.get("DRIVER_NAME");
        TestNode node = new TestNode(
                driver, new ProcessDriver(command, environment, TestNode.TIMEOUT), EmbeddedApiServer.builder());
        String release = "1." + node.api().version().minor();
        node.proxy().allowOnly(manifests.access(Kind.Deployment, driver, release, folder), "");
        return node;
    }

    private static void start(TestNode node) throws IOException {
        node.place().awaitLog("Serving metrics and probes over HTTP", node.start(), TestNode.TIMEOUT);
    }
}
