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
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Requests;
import io.dra4j.testkit.rbac.Refusal;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The controller as the charts start it, the community's and this one's, with the rights of its ServiceAccount. */
@Tag("gate")
class ControllerIT {

    @Nested
    class OfTheCommunitysChart {

        private static final Manifests CHART = Manifests.read(Path.of("src/test/resources/published-chart.yaml"));
        private static final ObjectMapper JSON = new ObjectMapper();

        @TempDir
        private Path folder;

        @AutoClose
        private TestNode node;

        private Launchers launchers;

        @BeforeEach
        void prepare() throws Exception {
            launchers = Launchers.in(folder);
            DriverContainer controller = DriverContainer.named(CHART, "controller");
            node = new TestNode(
                    "gpu.example.com",
                    new ProcessDriver(
                            launchers.command(controller.commandLine()), controller.onTestNode(), TestNode.TIMEOUT),
                    EmbeddedApiServer.builder().version(KubernetesVersion.V1_36));
            node.proxy().allowOnly(CHART.access(Kind.Deployment, "gpu.example.com", "1.36", folder), "");
        }

        /** Creates a claim with a device of this driver and one of another, which has its own status. */
        private void allocate(String name, String pool) throws Exception {
            String binding =
                    "'bindingConditions':['BindingConditions'],'bindingFailureConditions':['BindingFailureConditions']";
            String claim = """
                    {'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',
                     'metadata':{'namespace':'default','name':'%1$s'},
                     'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}}]}},
                     'status':{'allocation':{'devices':{'results':[
                       {'request':'r','driver':'gpu.example.com','pool':'%2$s','device':'gpu-0',%3$s},
                       {'request':'r','driver':'gpu.example.com','pool':'%2$s','device':'gpu-1'},
                       {'request':'r','driver':'nic.example.com','pool':'%2$s','device':'nic-0',%3$s}]}},
                      'devices':[{'driver':'nic.example.com','pool':'%2$s','device':'nic-0','data':{'up':1}}]}}
                    """.formatted(name, pool, binding);
            node.api().store().put(JSON.readTree(claim.replace('\'', '"')));
        }

        private JsonNode awaitBound(String name) {
            Predicate<JsonNode> bound =
                    claim -> claim.at("/metadata/name").asText().equals(name)
                            && claim.at("/status/devices").size() == 2;
            return node.api()
                    .store()
                    .awaitObject("resourceclaims", bound, TestNode.TIMEOUT)
                    .at("/status/devices");
        }

        private static void assertIsBound(JsonNode devices, String pool) {
            assertThat(devices.at("/0/driver").asText()).isEqualTo("nic.example.com");
            assertThat(devices.at("/0/data/up").asInt()).isOne();
            assertThat(devices.at("/0/conditions")).isEmpty();
            assertThat(devices.at("/1/device").asText()).isEqualTo("gpu-0");
            assertThat(devices.at("/1/pool").asText()).isEqualTo(pool);
            assertThat(devices.at("/1/conditions")).hasSize(1);
            JsonNode condition = devices.at("/1/conditions/0");
            assertThat(condition.path("type").asText()).isEqualTo("BindingConditions");
            assertThat(condition.path("status").asText()).isEqualTo("True");
            assertThat(condition.path("reason").asText()).isEqualTo("Ready");
            assertThat(condition.path("message").asText()).isEqualTo("Device is ready");
        }

        @Test
        void bindsDevicesOfAllNodesAcrossItsDeathAndTheEndOfItsWatch() throws Exception {
            allocate("before", "node-1");
            Instance first = node.start();
            assertIsBound(awaitBound("before"), "node-1");
            allocate("running", "node-2");
            assertIsBound(awaitBound("running"), "node-2");

            first.kill();
            allocate("down", "node-3");
            node.api().store().delete("resourceclaims", "default", "before");
            Instance second = node.start();
            assertIsBound(awaitBound("down"), "node-3");

            node.proxy().cutWatches();
            allocate("cut", "node-4");
            assertIsBound(awaitBound("cut"), "node-4");

            second.terminate();
            assertThat(second.awaitExit(TestNode.TIMEOUT)).isEqualTo(OptionalInt.of(0));
            assertThat(node.log().lines())
                    .filteredOn(line -> line.contains("lacks a verb"))
                    .as("one line of each process, of the verb that its ClusterRole lacks")
                    .hasSize(2)
                    .allMatch(line -> line.contains("verb=\"patch\" resource=\"resourceclaims/status\""));
        }

        @Test
        void setsWhatADriverOnTheNodeSetsTooOnceAndForAll() throws Exception {
            DriverContainer plugin = DriverContainer.named(CHART, "plugin");
            Map<String, String> environment = plugin.onTestNode();
            environment.putAll(Map.of("BINDING_CONDITIONS", "true", "NUM_DEVICES", "2"));
            environment.keySet().removeAll(List.of("HEALTHCHECK_PORT", "METRICS_PORT"));
            Instance driver = new ProcessDriver(launchers.command(plugin.commandLine()), environment, TestNode.TIMEOUT)
                    .start(node.place(), Map.of());
            try {
                node.awaitRegistered();
                node.awaitSlices(slices -> !slices.isEmpty());
                node.start();
                node.proxy()
                        .awaitAll(
                                TestNode.TIMEOUT,
                                all -> all.stream()
                                                .filter(Requests.watches("resourceclaims"))
                                                .count()
                                        >= 2);
                allocate("both", TestNode.NAME);
                awaitBound("both");
                allocate("next", TestNode.NAME);
                assertIsBound(awaitBound("next"), TestNode.NAME);
                allocate("last", "elsewhere");
                assertIsBound(awaitBound("last"), "elsewhere");

                assertIsBound(awaitBound("both"), TestNode.NAME);
                assertThat(node.proxy().requests(Requests.updates("resourceclaims")))
                        .filteredOn(request -> request.method().equals("PUT"))
                        .as("each of both may set a condition once, and none sets one again")
                        .hasSizeBetween(3, 5);
            } finally {
                driver.kill();
            }
        }

        @Test
        void refusesAPluginThatItDoesNotHave() {
            List<String> command = launchers.command(List.of("dra-example-controller", "--enable-plugin=Coffee"));
            Instance started = new ProcessDriver(command, Map.of(), TestNode.TIMEOUT).start(node.place(), Map.of());

            assertThat(started.awaitExit(TestNode.TIMEOUT)).as(node.log()).isEqualTo(OptionalInt.of(2));
            assertThat(node.log()).contains("--enable-plugin", "[BindingConditions]", "'Coffee'");
        }
    }

    @Nested
    class OfTheChart {

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
                    .containsExactlyElementsOf(Right.of(Right.CONTROLLER).stream()
                            .map(Right::toString)
                            .toList());
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
            DriverContainer container = DriverContainer.ofDeployment(manifests);
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
}
