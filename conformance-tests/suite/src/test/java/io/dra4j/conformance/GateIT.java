// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_CONSUMABLE_CAPACITY;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_DEVICE_TAINTS;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_PARTITIONABLE_DEVICES;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is published to a server that leaves out fields, for its feature gates are off. */
class GateIT {

    private DevicesUnderTest gpus;

    private void start(KubernetesVersion version, String... options) throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(version)
                                .featureGate(DRA_DEVICE_TAINTS, false)
                                .featureGate(DRA_PARTITIONABLE_DEVICES, false)
                                .featureGate(DRA_CONSUMABLE_CAPACITY, false),
                        options);
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    private String withdrawal() {
        JsonNode event =
                gpus.driver
                        .api
                        .store()
                        .awaitObject(
                                "events",
                                each -> each.path("reason").asText().equals("DevicesWithdrawn"),
                                PATIENCE);
        return event.path("message").asText();
    }

    @Test
    void aDeviceThatWouldLoseItsTaintIsWithdrawnAndReportedUntilItIsWell() throws Exception {
        start(KubernetesVersion.V1_34, "--num-devices=3");
        gpus.awaitPublished(devices -> devices.size() == 3);

        gpus.faults("gpu-0 NoSchedule hot");
        gpus.awaitPublished(devices -> devices.size() == 2 && !devices.containsKey("gpu-0"));
        assertThat(withdrawal()).contains("gpu-0", "DRADeviceTaints");

        gpus.faults();
        gpus.awaitPublished(devices -> devices.size() == 3);
        assertThat(gpus.driver.proxy.requests(request -> request.status() >= 400)).isEmpty();
    }

    @Test
    void aTaintThatOnlyInformsIsLeftOutWithOneLineInTheLog() throws Exception {
        start(KubernetesVersion.V1_36, "--num-devices=3");
        gpus.awaitPublished(devices -> devices.size() == 3);

        gpus.faults("gpu-0 None odd");
        gpus.driver.proxy.await(PATIENCE, request -> request.dryRun() && request.status() == 201);
        gpus.faults("gpu-0 None odd", "gpu-1 absent");
        gpus.awaitPublished(devices -> devices.size() == 2);

        assertThat(gpus.published().get("gpu-0")).isNotNull();
        assertThat(gpus.published().get("gpu-0").has("taints")).isFalse();
        assertThat(gpus.driver.log().lines().filter(line -> line.contains("DRADeviceTaints")))
                .as(gpus.driver.log())
                .hasSize(1);
    }

    @Test
    void partitionsThatWouldLoseTheirCountersAreNotPublished() throws Exception {
        start(KubernetesVersion.V1_34, "--num-devices=1", "--gpu-partitions=2");

        assertThat(withdrawal()).contains("gpu-0-full", "DRAPartitionableDevices");
        gpus.driver.api.store().awaitObject("resourceslices", slice -> true, PATIENCE);
        assertThat(gpus.published()).isEmpty();
        assertThat(gpus.writesAfter(0))
                .isNotEmpty()
                .noneMatch(write -> write.body().contains("partition"));
    }

    @Test
    void gpusAreOfferedAsAWholeWhereTheyCannotBeShared() throws Exception {
        start(KubernetesVersion.V1_35, "--num-devices=2", "--gpu-allow-multiple-allocations");

        gpus.awaitPublished(devices -> devices.size() == 2);
        assertThat(gpus.published().values())
                .allSatisfy(
                        device -> {
                            assertThat(device.toString()).doesNotContain("requestPolicy");
                            assertThat(device.at("/capacity/memory/value").asText())
                                    .isEqualTo("80Gi");
                        });
        assertThat(gpus.driver.log()).contains("DRAConsumableCapacity");
    }
}
