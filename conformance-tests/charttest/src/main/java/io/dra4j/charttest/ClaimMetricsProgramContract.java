// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rules for each driver's program as the process that serves metrics of claims that wait, with
 * the arguments, the variables and the rights that the chart gives it; a test of the driver extends
 * this.
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
        return ChartContract.CHART.render(Installation.DEFAULT.set("claimMetrics.enabled", true));
    }

    private static JsonNode claim() throws Exception {
        return Manifests.MAPPER.readTree(CLAIM);
    }

    @Test
    void itServesClaimsThatWaitWithTheRightsOfTheChartUntilItIsTerminated() throws Exception {
        try (ClaimMetricsProcess process = ClaimMetricsProcess.start(manifests(), program(), folder)) {
            process.api().store().put(claim());

            assertThat(process.awaitMetrics(page -> page.contains("dra4j_pending_claims{")))
                    .contains("device_class=\"gpu.example.com\",driver=\"", "for_pod=\"true\"} 1.0\n");
            assertThat(process.get("/healthz")).isEqualTo("ok\n");
            assertThat(process.get("/readyz")).isEqualTo("ready\n");
            assertThat(process.refused()).isEmpty();
            assertThat(process.terminate()).isZero();
        }
    }

    @Test
    void withoutOneOfItsRightsItSaysWhichIsMissing() throws Exception {
        assertThat(Right.of(Right.CLAIM_METRICS)).isNotEmpty();
        for (Right right : Right.of(Right.CLAIM_METRICS)) {
            Manifests manifests = manifests();
            assertThat(right.removeFrom(manifests.of(Kind.ClusterRole))).isTrue();
            try (ClaimMetricsProcess process = ClaimMetricsProcess.start(manifests, program(), folder)) {
                process.api().store().put(claim());

                assertThat(process.awaitMetrics(page -> page.contains("missing_permissions")))
                        .doesNotContain("dra4j_pending")
                        .containsPattern("dra4j_claim_list_failures_total\\{[^}]*} [1-9]")
                        .containsPattern(
                                "dra4j_missing_permissions_total\\{[^}]*verb=\"%s\"} [1-9]".formatted(right.verb()));
                assertThat(process.refused()).containsExactly(right.toString());
                assertThat(process.get("/readyz")).contains("no list of claims: ", right.verb());
            }
        }
    }
}
