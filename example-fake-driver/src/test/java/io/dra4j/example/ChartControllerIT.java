// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.device.DeviceName;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.Right;
import io.dra4j.charttest.StrictDecoder;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.rbac.Refusal;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The controller of the chart, with the rights of its ServiceAccount. */
@Tag("gate")
class ChartControllerIT {

    private static final String DRIVER = "gpu.example.com";

    private static final HelmChart CHART = new HelmChart(Path.of("deploy/helm"));

    private final Manifests manifests = CHART.render(ChartInstallation.DEFAULT.set("controller.enabled", true));
    private final JsonNode deployment = manifests.one(Kind.Deployment);

    @TempDir
    private Path folder;

    private ServiceAccountAccess access;

    @BeforeEach
    void read() {
        access = manifests.access(Kind.Deployment, DRIVER, "1.36", folder);
    }

    @Test
    void itMayWriteTheDriversSlicesOfNoNodeAndItsLeaseAlone() throws Exception {
        assertThat(StrictDecoder.problems(manifests)).isEmpty();
        assertThat(Right.granted(Stream.of(Kind.ClusterRole, Kind.Role)
                        .flatMap(kind -> manifests.of(kind).stream())
                        .filter(role -> role.at("/metadata/name").asText().endsWith("-controller"))
                        .toList()))
                .containsExactlyElementsOf(
                        Right.of(Right.CONTROLLER).stream().map(Right::toString).toList());
        String slices = "/apis/resource.k8s.io/v1/resourceslices";
        String leases = "/apis/coordination.k8s.io/v1/namespaces/"
                + deployment.at("/metadata/namespace").asText() + "/leases";
        assertThat(refusal("POST " + slices, "{nodeName: node-1, driver: gpu.example.com}"))
                .contains("node-1");
        for (String request : List.of("POST " + slices, "DELETE " + slices + "/one")) {
            assertThat(refusal(request, "{allNodes: true, driver: other.example.com}"))
                    .contains("'other.example.com'");
            assertThat(refusal(request, "{allNodes: true}")).isNotEmpty();
            assertThat(refusal(request, "{allNodes: true, driver: gpu.example.com}"))
                    .isEmpty();
        }
        for (String method : List.of("GET ", "PUT ")) {
            assertThat(refusal(method + leases + "/kube-scheduler", "{}")).contains("kube-scheduler");
            assertThat(refusal(method + leases + "/gpu.example.com-controller", "{}"))
                    .isEmpty();
        }
    }

    @Test
    void theNotesSayHowSlicesAreDeletedThatStayWithoutIt() {
        for (boolean enabled : new boolean[] {true, false}) {
            assertThat(CHART.output(ChartInstallation.DEFAULT.set("controller.enabled", enabled)))
                    .contains("Delete them: kubectl delete resourceslices"
                            + " --field-selector=spec.driver=gpu.example.com,spec.nodeName=\n");
        }
    }

    private String refusal(String request, String spec) throws Exception {
        JsonNode object = new YAMLMapper().readTree("spec: " + spec);
        String[] words = request.split(" ");
        return access.refusal(words[0], words[1], Map.of(), "node-1", () -> object, () -> object)
                .map(Refusal::message)
                .orElse("");
    }

    @Test
    void itPublishesWhatADriverOnANodePrepares() throws Exception {
        DriverContainer container = DriverContainer.ofClaimMetrics(manifests);
        assertThat(container.environment())
                .containsEntry(
                        "FABRIC_DEVICES",
                        DriverContainer.of(manifests).environment().get("FABRIC_DEVICES"));
        TestNode node = new TestNode(DRIVER, DriverJar.command());
        ApiProxy proxy = ApiProxy.before(node.api().url());
        try (node;
                proxy) {
            proxy.allowOnly(access, "");
            node.start("--fabric-devices=12");
            node.awaitRegistered();
            String namespace = deployment.at("/metadata/namespace").asText();
            node.api().store().put(new ObjectMapper().readTree("""
                    {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s"}}""".formatted(namespace)));
            List<String> command = new ArrayList<>(DriverJar.command());
            command.addAll(container.arguments());
            command.add("--leader-election-namespace=" + namespace);
            command.add("--kubeconfig=" + proxy.writeKubeconfig(folder.resolve("kubeconfig")));
            Map<String, String> environment = Map.of("DRIVER_NAME", DRIVER, "FABRIC_DEVICES", "13");
            Instance controller =
                    new ProcessDriver(command, environment, TestNode.TIMEOUT).start(node.place(), Map.of());

            try {
                JsonNode slice = node.api()
                        .store()
                        .awaitObject(
                                "resourceslices",
                                one -> one.at("/spec/pool/name").asText().equals(FabricGpus.POOL),
                                TestNode.TIMEOUT);
                assertThat(slice.at("/spec/devices")).hasSize(13);
                assertThat(slice.at("/spec/nodeSelector").isObject()).isTrue();
                KubeletClaim claim = node.allocate("fabric", "fabric-gpu-11");
                assertThat(node.prepare(claim).complaint()).isEmpty();
                assertThat(node.prepare(node.allocate("missing", "fabric-gpu-12"))
                                .complaint())
                        .hasValueSatisfying(why -> assertThat(why).contains("has 12 GPUs"));
                assertThat(FakeGpuProvider.variable(new DeviceName("fabric-gpu-0")))
                        .isEqualTo("GPU_DEVICE_FABRIC_0");
                controller.terminate();
                assertThat(controller.awaitExit(TestNode.TIMEOUT))
                        .as(node.log())
                        .isEqualTo(OptionalInt.of(0));
                assertThat(node.api().store().list("resourceslices"))
                        .as("the slices of a controller that has ended")
                        .contains(slice);
            } finally {
                controller.kill();
            }
            assertThat(proxy.requests(request -> request.status() == 403)).isEmpty();
        }
    }
}
