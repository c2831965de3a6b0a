// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.takeover.GoFiles;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.UnusedPorts;
import io.dra4j.testkit.kubelet.GrpcProbe;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver as NVIDIA's chart starts it: its command, its environment, and the rights of its
 * ServiceAccount, on a node that NVIDIA's own driver has left with two claims, and a server that
 * refuses the first slice so that there is something to report.
 */
@Tag("slow")
class PublishedChartIT {

    private static final Manifests CHART = Manifests.read(Path.of("src/test/resources/published-chart.yaml"));
    private static final String GPU = "gpu.nvidia.com";
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path folder;

    @AutoClose
    private static TestNode node;

    private static int probePort;
    private static KubeletClaim ended;
    private static KubeletClaim wanted;

    @BeforeAll
    static void start() throws Exception {
        StandInNode boards = StandInNode.install(folder.resolve("node"), "h100-80");
        DriverContainer gpus = DriverContainer.named(CHART, "gpus");
        Map<String, String> environment = gpus.onTestNode();
        probePort = UnusedPorts.next();
        environment.put("HEALTHCHECK_PORT", Integer.toString(probePort));
        environment.put("HTTP_ENDPOINT", ":{FREE_PORT}");
        environment.put("NVIDIA_DRIVER_ROOT", boards.root().toString());
        environment.put("SYSFS_ROOT", boards.sysfs().toString());
        environment.put("PROC_ROOT", boards.proc().toString());
        environment.put("PATH", launcher() + ":" + System.getenv("PATH"));
        node = new TestNode(
                GPU,
                new ProcessDriver(gpus.commandLine(), environment, TestNode.TIMEOUT),
                EmbeddedApiServer.builder().version(KubernetesVersion.V1_36));
        node.proxy().allowOnly(CHART.access(Kind.DaemonSet, GPU, "1.36", folder), TestNode.NAME);
        node.proxy()
                .inject(Fault.status(422, "Invalid")
                        .on(Requests.creates("resourceslices"))
                        .times(1));
        leaveWhatNvidiasDriverLeaves(boards);
        node.start();
        node.awaitRegistered();
        node.awaitSlices(slices -> devices(slices).contains("gpu-0"));
    }

    /** A script with the name of NVIDIA's program. */
    private static Path launcher() throws IOException {
        Path programs = Files.createDirectory(folder.resolve("bin"));
        DriverJar.PROGRAM.writeScript(programs.resolve("gpu-kubelet-plugin"));
        return programs;
    }

    private static void leaveWhatNvidiasDriverLeaves(StandInNode boards) throws IOException {
        JsonNode owner = node.api().store().find("nodes", "", TestNode.NAME).orElseThrow();
        ObjectNode slice = (ObjectNode) JSON.readTree("""
                                {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
                                 "metadata":{"name":"node-1-gpu.nvidia.com-x7k2p","ownerReferences":[
                                   {"apiVersion":"v1","kind":"Node","name":"node-1","controller":true}]},
                                 "spec":{"driver":"gpu.nvidia.com","nodeName":"node-1",
                                   "pool":{"name":"node-1","generation":4,"resourceSliceCount":1},
                                   "devices":[{"name":"gpu-9"}]}}
                                """);
        ((ObjectNode) slice.at("/metadata/ownerReferences/0"))
                .put("uid", owner.at("/metadata/uid").asText());
        node.api().store().put(slice);
        ended = node.allocate("ended", "gpu-0");
        wanted = node.allocate("wanted", "gpu-0");
        Path directory = Files.createDirectory(node.place().plugins().resolve(GPU));
        for (String name : List.of("pu.lock", "cp.lock", "nvidia-cdi-hook")) {
            Files.writeString(directory.resolve(name), "{}");
        }
        String boot = Files.readString(boards.proc().resolve("sys/kernel/random/boot_id"))
                .strip();
        // one of the claims is prepared, and the other is not: they have the same GPU
        Files.write(
                directory.resolve("checkpoint.json"),
                GoFiles.prepared(ended.uid(), boards.state().uuid(0), boot));
        for (KubeletClaim claim : List.of(ended, wanted)) {
            Files.writeString(
                    node.place().cdi().resolve(spec(claim, "yaml")),
                    "{cdiVersion: 0.5.0, kind: k8s.gpu.nvidia.com/claim, devices: [{name: "
                            + claim.uid()
                            + "-gpu-0, containerEdits: {env: [A=1]}}]}");
        }
    }

    private static String spec(KubeletClaim claim, String form) {
        return "k8s.gpu.nvidia.com-claim_" + claim.uid() + "." + form;
    }

    private static List<String> devices(List<JsonNode> slices) {
        List<String> names = new ArrayList<>();
        slices.forEach(slice -> names.addAll(slice.at("/spec/devices").findValuesAsText("name")));
        return names;
    }

    @Test
    void publishesDevicesThatTheChartsClassesSelectInThePoolOfItsPredecessor() {
        List<JsonNode> slices = node.awaitSlices(found -> devices(found).contains("gpu-0"));

        assertThat(devices(slices)).doesNotContain("gpu-9");
        assertThat(slices).allSatisfy(slice -> {
            assertThat(slice.at("/spec/driver").asText()).isEqualTo(GPU);
            assertThat(slice.at("/spec/pool/name").asText()).isEqualTo(TestNode.NAME);
            assertThat(slice.at("/spec/pool/resourceSliceCount").asInt()).isEqualTo(slices.size());
        });
        assertThat(slices.get(0).at("/spec/devices/0/attributes/type/string").asText())
                .isEqualTo("gpu");
    }

    /** As after a restart of the kubelet, or at the end of a pod. */
    @Test
    void takesOverTheClaimsOfItsPredecessor() throws Exception {
        assertThat(node.specs()).contains(spec(ended, "json")).doesNotContain(spec(ended, "yaml"));
        assertThat(node.unprepare(ended).complaint()).isEmpty();
        assertThat(node.prepare(wanted).complaint()).isEmpty();

        assertThat(node.specs())
                .as("one spec alone: of two with one device name runtimes take none")
                .containsExactly(spec(wanted, "json"));
        Path directory = node.place().plugins().resolve(GPU);
        assertThat(directory.resolve("checkpoint.json")).doesNotExist();
        assertThat(directory.resolve("checkpoint.json.taken-over")).exists();
        assertThat(metrics())
                .contains("nvidia_dra_requests_total{driver=\"gpu.nvidia.com\",operation=\"prepare\"} 1.0")
                .contains(
                        "nvidia_dra_request_duration_seconds_count{driver=\"gpu.nvidia.com\",operation=\"unprepare\"} 1")
                .contains("operation=\"prepare\",le=\"12.8\"} 1")
                .contains("nvidia_dra_requests_inflight{driver=\"gpu.nvidia.com\",operation=\"prepare\"} 0.0")
                .contains(
                        "nvidia_dra_prepared_devices{device_type=\"gpu\",driver=\"gpu.nvidia.com\",node=\"node-1\"} 1.0")
                .contains(
                        "nvidia_dra_node_prepare_errors_total{driver=\"gpu.nvidia.com\",error_type=\"prepare_devices\"} 0.0")
                .contains("nvidia_dra_node_unprepare_errors_total{");
        assertThat(node.unprepare(wanted).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
    }

    private static String metrics() throws Exception {
        HttpResponse<String> metrics = node.pages().get("/metrics");
        assertThat(metrics.statusCode()).isEqualTo(200);
        return metrics.body();
    }

    @Test
    void saysOnceWhatItMayNotDo() throws Exception {
        node.proxy().awaitAll(TestNode.TIMEOUT, all -> all.stream().anyMatch(Requests.creates("events")));

        assertThat(metrics()).containsPattern("dra4j_missing_permissions_total\\{.*resource=\"events\"");
        assertThat(node.log().lines())
                .filteredOn(line -> line.contains("lacks a verb"))
                .singleElement()
                .asString()
                .contains("verb=\"create\" resource=\"events\"", "no Events on the Node");
    }

    @Test
    void answersTheProbesOfItsPod() {
        try (GrpcProbe probe = GrpcProbe.at(probePort)) {
            assertThat(probe.check("liveness")).isEqualTo("SERVING");
            assertThat(probe.check("")).isEqualTo("SERVING");
        }
    }
}
