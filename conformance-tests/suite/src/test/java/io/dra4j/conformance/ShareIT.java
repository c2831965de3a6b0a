// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.testkit.apiserver.FeatureGate.DRA_CONSUMABLE_CAPACITY;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_DEVICE_TAINTS;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Quantity;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** GPUs that several claims share, each with a part of their capacities. */
class ShareIT {

    private static final String ONE = "11111111-1111-4111-8111-111111111111";
    private static final String TWO = "22222222-2222-4222-8222-222222222222";

    private DevicesUnderTest gpus;

    @BeforeEach
    void start() throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.V1_36)
                                .featureGate(DRA_CONSUMABLE_CAPACITY, true)
                                .featureGate(DRA_DEVICE_TAINTS, true),
                        "--num-devices=2",
                        "--gpu-allow-multiple-allocations");
        gpus.awaitPublished(devices -> devices.size() == 2);
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    private KubeletClaim allocate(String name, String shareId, String memory) throws Exception {
        return gpus.driver.allocateResults(
                name,
                """
                {"device":"gpu-0","shareID":"%s",
                 "consumedCapacity":{"memory":"%s","compute":"10"}}
                """
                        .formatted(shareId, memory));
    }

    @Test
    @Tag("DRA-CAP-01")
    void onlySharedDevicesHavePoliciesAndTheDefaultIsInTheRange() {
        List<JsonNode> policies = new ArrayList<>();
        for (JsonNode device : gpus.published().values()) {
            assertThat(device.path("allowMultipleAllocations").asBoolean()).isTrue();
            for (JsonNode capacity : device.path("capacity")) {
                assertValid(capacity);
                policies.add(capacity.path("requestPolicy"));
            }
        }
        assertThat(policies).hasSize(4);
    }

    private static void assertValid(JsonNode capacity) {
        Quantity value = quantity(capacity.path("value"));
        Quantity usual = quantity(capacity.at("/requestPolicy/default"));
        Quantity min = quantity(capacity.at("/requestPolicy/validRange/min"));
        Quantity max = quantity(capacity.at("/requestPolicy/validRange/max"));
        Quantity step = quantity(capacity.at("/requestPolicy/validRange/step"));
        assertThat(List.of(usual, max)).allMatch(q -> q.compareTo(min) >= 0);
        assertThat(List.of(usual, max)).allMatch(q -> q.compareTo(value) <= 0);
        assertThat(List.of(usual, max))
                .allMatch(
                        q ->
                                q.amount().subtract(min.amount()).remainder(step.amount()).signum()
                                        == 0);
    }

    private static Quantity quantity(JsonNode text) {
        return new Quantity(text.asText());
    }

    @Test
    @Tag("DRA-CAP-01")
    void devicesThatAreNotSharedHaveNone() throws Exception {
        gpus.driver.restartAfterKill("--num-devices=2");

        gpus.awaitPublished(
                devices ->
                        devices.values().stream()
                                .noneMatch(d -> d.toString().contains("requestPolicy")));
        assertThat(gpus.published().values())
                .noneMatch(device -> device.path("allowMultipleAllocations").asBoolean());
    }

    @Test
    @Tag("DRA-CAP-02")
    void thePolicyStaysWhileAShareIsAllocated() throws Exception {
        KubeletClaim claim = allocate("one", ONE, "10Gi");
        assertThat(gpus.prepare(claim)).isEmpty();
        JsonNode capacity = gpus.published().get("gpu-0").path("capacity");
        assertThat(capacity).isNotEmpty();

        gpus.faults("gpu-0 NoSchedule hot");
        gpus.awaitPublished(devices -> devices.get("gpu-0").has("taints"));
        assertThat(gpus.published().get("gpu-0").path("capacity")).isEqualTo(capacity);
        int number = gpus.driver.proxy.lastNumber();
        gpus.restart();
        assertThat(gpus.published().get("gpu-0").path("capacity")).isEqualTo(capacity);
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).isEmpty();
    }

    @Test
    void everyClaimIsToldItsShare() throws Exception {
        KubeletClaim one = allocate("one", ONE, "10Gi");
        KubeletClaim two = allocate("two", TWO, "20Gi");
        assertThat(gpus.prepare(one)).isEmpty();
        assertThat(gpus.prepare(two)).isEmpty();

        assertThat(spec(one)).contains("GPU_DEVICE_0_MEMORY=10Gi", "GPU_DEVICE_0_COMPUTE=10", ONE);
        assertThat(spec(two)).contains("GPU_DEVICE_0_MEMORY=20Gi", TWO);
        gpus.unprepare(one);
        gpus.unprepare(two);
        assertThat(gpus.driver.specs()).isEmpty();
    }

    private String spec(KubeletClaim claim) throws Exception {
        String file =
                gpus.driver.specs().stream()
                        .filter(name -> name.contains(claim.uid()))
                        .findFirst()
                        .orElseThrow();
        return Files.readString(gpus.driver.cdi.resolve(file));
    }
}
