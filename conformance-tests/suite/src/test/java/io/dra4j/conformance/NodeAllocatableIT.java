// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.FeatureGate;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.proxy.Requests;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The cores of the fake driver as allocatable CPUs of the node, in the shape of each release. */
class NodeAllocatableIT {

    private static final String NAME = "cpu.example.com";
    private static final String MAPPINGS = "nodeAllocatableResourceMappings";
    private static final String RESOURCES = "nodeAllocatableResources";
    private static final String LEFT_OUT = "(feature gate DRANodeAllocatableResources)";

    static Stream<Arguments> releases() {
        return Stream.of(
                Arguments.of(KubernetesVersion.V1_34, false, "{}"),
                Arguments.of(KubernetesVersion.V1_36, false, "{}"),
                Arguments.of(
                        KubernetesVersion.V1_36,
                        true,
                        """
                        {"nodeAllocatableResourceMappings":
                          {"cpu":{"allocationMultiplier":"1","capacityKey":"cpu.example.com/cpu"}}}
                        """),
                Arguments.of(
                        KubernetesVersion.V1_37,
                        true,
                        """
                        {"nodeAllocatableResources":
                          {"cpu":{"mapping":
                            {"capacityKey":"cpu.example.com/cpu","capacityMultiplier":"1"}}}}
                        """));
    }

    @ParameterizedTest
    @MethodSource("releases")
    void coresAreMappedAsTheApiServerKnowsIt(KubernetesVersion release, boolean on, String expected)
            throws Exception {
        EmbeddedApiServer.Builder server = EmbeddedApiServer.builder().version(release);
        if (FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES.existsIn(release)) {
            server.featureGate(FeatureGate.DRA_NODE_ALLOCATABLE_RESOURCES, on);
        }
        try (DriverUnderTest driver = new DriverUnderTest(server)) {
            JsonNode numaNode = published(driver);

            assertThat(numaNode.path("capacity").has("cpu.example.com/cpu")).isTrue();
            assertThat(mapped(numaNode)).isEqualTo(new ObjectMapper().readTree(expected));
            int before = restarted(driver);
            assertThat(
                            driver.proxy.requests(
                                    Requests.writes("resourceslices").and(Requests.after(before))))
                    .as(driver.proxy.log())
                    .isEmpty();
            assertThat(driver.log()).doesNotContain("fields altered or left out");
            assertThat(driver.log().lines().filter(line -> line.contains(LEFT_OUT)))
                    .as("once for each of two processes, where it is left out")
                    .hasSize(on ? 0 : 2);
        }
    }

    /** Starts the driver again, waits until its pool is published, and returns when it began. */
    private static int restarted(DriverUnderTest driver) throws Exception {
        driver.kill();
        int before = driver.proxy.lastNumber();
        start(driver);
        DriverPages.ofProcess(2, driver).awaitReady();
        return before;
    }

    private static void start(DriverUnderTest driver) throws Exception {
        driver.start(
                DriverPages.OPTION,
                "--device-profile=cpu",
                "--cpu-numa-nodes=2",
                "--cpus-per-numa-node=16");
    }

    private static JsonNode published(DriverUnderTest driver) throws Exception {
        start(driver);
        assertThat(driver.kubelet.awaitRegistered(NAME, PATIENCE)).as(driver.logTail()).isTrue();
        List<JsonNode> slices =
                driver.api
                        .store()
                        .await("resourceslices", NodeAllocatableIT::hasNumaNodes, PATIENCE);
        return slices.get(0).at("/spec/devices/0");
    }

    private static boolean hasNumaNodes(List<JsonNode> slices) {
        return slices.stream().anyMatch(slice -> slice.at("/spec/devices").size() == 2);
    }

    private static JsonNode mapped(JsonNode device) {
        return ((ObjectNode) device.deepCopy()).retain(MAPPINGS, RESOURCES);
    }
}
