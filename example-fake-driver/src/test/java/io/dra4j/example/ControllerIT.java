// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The controller as the community's chart starts it, with the rights of its ServiceAccount. */
@Tag("gate")
class ControllerIT {

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
        Predicate<JsonNode> bound = claim -> claim.at("/metadata/name").asText().equals(name)
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
