// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DevicesUnderTest.elements;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.FeatureGate;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where counter sets stand, on servers that refuse them anywhere else. */
class CounterLayoutIT {

    private static final int GPUS = 10;
    private static final int PARTITIONS = 7;

    private DevicesUnderTest gpus;

    private void start(KubernetesVersion version) throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(version)
                                .featureGate(FeatureGate.DRA_PARTITIONABLE_DEVICES, true),
                        "--num-devices=" + GPUS,
                        "--gpu-partitions=" + PARTITIONS);
        gpus.awaitPublished(devices -> devices.size() == GPUS * (PARTITIONS + 1));
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    private static List<String> sets(JsonNode slice) {
        return elements(slice.at("/spec/sharedCounters")).stream()
                .map(set -> set.path("name").asText())
                .toList();
    }

    private static List<String> consumed(JsonNode slice) {
        return elements(slice.at("/spec/devices")).stream()
                .map(device -> device.at("/consumesCounters/0/counterSet").asText())
                .distinct()
                .toList();
    }

    private void assertComplete(List<JsonNode> slices) {
        assertThat(slices)
                .allSatisfy(
                        slice ->
                                assertThat(slice.at("/spec/pool/resourceSliceCount").asInt())
                                        .isEqualTo(slices.size()));
        assertThat(slices.stream().flatMap(slice -> sets(slice).stream()))
                .hasSize(GPUS)
                .doesNotHaveDuplicates();
        assertThat(gpus.driver.proxy.requests(request -> request.status() >= 400)).isEmpty();
    }

    @Test
    @Tag("DRA-PART-01")
    void before135EachSetIsInTheSliceOfAllDevicesThatConsumeIt() throws Exception {
        start(KubernetesVersion.V1_34);
        List<JsonNode> slices = gpus.slices();

        assertComplete(slices);
        assertThat(slices)
                .hasSize(GPUS)
                .allSatisfy(
                        slice -> {
                            assertThat(sets(slice)).hasSize(1).isEqualTo(consumed(slice));
                            assertThat(slice.at("/spec/devices")).hasSize(PARTITIONS + 1);
                        });

        int before = gpus.driver.proxy.lastNumber();
        gpus.restart();
        assertThat(gpus.writesAfter(before)).as("after a restart").isEmpty();
        assertThat(gpus.slices()).isEqualTo(slices);
    }

    @Test
    @Tag("DRA-PART-01")
    void from135OnSetsAreInSlicesOfTheirOwn() throws Exception {
        start(KubernetesVersion.V1_36);
        List<JsonNode> slices = gpus.slices();

        assertComplete(slices);
        assertThat(slices)
                .allSatisfy(
                        slice ->
                                assertThat(sets(slice).isEmpty())
                                        .isNotEqualTo(consumed(slice).isEmpty()));
    }
}
