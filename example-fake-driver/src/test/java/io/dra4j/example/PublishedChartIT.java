// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.UnusedPorts;
import io.dra4j.testkit.kubelet.GrpcProbe;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver as the community's chart starts it: its command, its environment, and the rights of its ServiceAccount, on
 * a server that refuses the first slice so that there is something to report.
 */
@Tag("slow")
class PublishedChartIT {

    private static final Manifests CHART = Manifests.read(Path.of("src/test/resources/published-chart.yaml"));

    @TempDir
    private static Path folder;

    @AutoClose
    private static TestNode node;

    private static int probePort;

    @BeforeAll
    static void start() throws Exception {
        DriverContainer plugin = DriverContainer.named(CHART, "plugin");
        Map<String, String> environment = plugin.onTestNode();
        probePort = UnusedPorts.next();
        environment.put("HEALTHCHECK_PORT", Integer.toString(probePort));
        environment.put("METRICS_PORT", "{FREE_PORT}");
        node = new TestNode(
                "gpu.example.com",
                new ProcessDriver(Launchers.in(folder).command(plugin.commandLine()), environment, TestNode.TIMEOUT),
                EmbeddedApiServer.builder().version(KubernetesVersion.V1_36));
        node.proxy().allowOnly(CHART.access(Kind.DaemonSet, "gpu.example.com", "1.36", folder), TestNode.NAME);
        node.proxy()
                .inject(Fault.status(422, "Invalid")
                        .on(Requests.creates("resourceslices"))
                        .times(1));
        node.start();
        node.awaitRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
    }

    @Test
    void publishesAsTheCommunitysDriverDoes() {
        List<JsonNode> slices = node.awaitSlices(found -> !found.isEmpty());

        assertThat(slices).hasSize(1);
        JsonNode spec = slices.get(0).path("spec");
        assertThat(spec.path("driver").asText()).isEqualTo("gpu.example.com");
        assertThat(spec.at("/pool/name").asText()).isEqualTo(TestNode.NAME);
        assertThat(spec.path("devices").findValuesAsText("name"))
                .containsExactly("gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5", "gpu-6", "gpu-7");
        assertThat(spec.at("/devices/0/attributes").fieldNames())
                .toIterable()
                .contains("index", "uuid", "model", "driverVersion");
    }

    @Test
    void preparesAClaimAndReportsItsDevicesByTheOneVerbThatItMayUse() throws Exception {
        KubeletClaim claim = node.allocate("reported", "gpu-3");

        assertThat(node.prepare(claim).complaint()).isEmpty();
        node.api()
                .store()
                .await(
                        "resourceclaims",
                        claims -> claims.toString().contains("\"model\":\"LATEST-GPU-MODEL\""),
                        TestNode.TIMEOUT);
        assertThat(node.unprepare(claim).complaint()).isEmpty();
        node.api()
                .store()
                .await(
                        "resourceclaims",
                        claims -> claims.get(0).at("/status/devices").isEmpty(),
                        TestNode.TIMEOUT);
        assertThat(missingVerbs())
                .as(node.log())
                .containsExactlyInAnyOrder(
                        "verb=\"create\" resource=\"events\"", "verb=\"patch\" resource=\"resourceclaims/status\"");
        assertThat(node.pages().get("/metrics").body())
                .contains("verb=\"create\"", "dra4j_published_slices")
                .containsPattern("dra4j_missing_permissions_total\\{.*resource=\"events\"");
    }

    /** A line for each verb, regardless of the requests after the first. */
    private static List<String> missingVerbs() {
        return node.log()
                .lines()
                .filter(line -> line.contains("lacks a verb"))
                .map(line -> line.replaceFirst(".*(verb=\\S+ resource=\\S+).*", "$1"))
                .toList();
    }

    @Test
    void logsNothingElseOfWhatItMayNotDo() {
        assertThat(node.log().lines())
                .filteredOn(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                .filteredOn(line -> line.contains("orbidden") || line.contains("answered 403"))
                .isEmpty();
    }

    @Test
    void answersTheProbesOfItsPod() {
        try (GrpcProbe probe = GrpcProbe.at(probePort)) {
            assertThat(probe.check("liveness")).isEqualTo("SERVING");
            assertThat(probe.check("")).isEqualTo("SERVING");
            assertThatThrownBy(() -> probe.check("another")).hasMessageContaining("NOT_FOUND");
        }
    }
}
