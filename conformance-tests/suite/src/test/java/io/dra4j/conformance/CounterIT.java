// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Quantity;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.FeatureGate;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** GPUs that are offered whole and in partitions, and share counters. */
class CounterIT {

    private static final int GPUS = 20;
    private static final int PARTITIONS = 7;

    private DevicesUnderTest gpus;

    @BeforeEach
    void start() throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.V1_36)
                                .featureGate(FeatureGate.DRA_PARTITIONABLE_DEVICES, true),
                        "--num-devices=" + GPUS,
                        "--gpu-partitions=" + PARTITIONS);
        gpus.awaitPublished(devices -> devices.size() == GPUS * (PARTITIONS + 1));
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    /** The counters of all slices of the pool, by set and name. */
    private Map<String, Quantity> counters() {
        Map<String, Quantity> counters = new HashMap<>();
        for (JsonNode slice : gpus.slices()) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                amounts(set)
                        .forEach(
                                (name, amount) ->
                                        assertThat(
                                                        counters.put(
                                                                set.path("name").asText()
                                                                        + "/"
                                                                        + name,
                                                                amount))
                                                .as("one set of a name")
                                                .isNull());
            }
        }
        return counters;
    }

    private static Map<String, Quantity> amounts(JsonNode set) {
        Map<String, Quantity> amounts = new HashMap<>();
        set.path("counters")
                .properties()
                .forEach(
                        one ->
                                amounts.put(
                                        one.getKey(),
                                        new Quantity(one.getValue().path("value").asText())));
        return amounts;
    }

    @Test
    @Tag("DRA-PART-01")
    void everyReferenceIsFoundInThePoolAndEverySliceIsCounted() {
        List<JsonNode> slices = gpus.slices();
        Map<String, Quantity> counters = counters();
        assertThat(counters).hasSize(GPUS * 2);

        assertThat(gpus.published().values())
                .allSatisfy(
                        device ->
                                assertThat(device.path("consumesCounters"))
                                        .singleElement()
                                        .satisfies(
                                                part ->
                                                        assertThat(counters)
                                                                .containsKeys(references(part))));
        assertThat(slices)
                .allSatisfy(
                        slice -> {
                            assertThat(slice.at("/spec/pool/resourceSliceCount").asInt())
                                    .isEqualTo(slices.size());
                            assertThat(slice.at("/spec/pool/generation"))
                                    .isEqualTo(slices.get(0).at("/spec/pool/generation"));
                            assertThat(slice.at("/spec").has("sharedCounters"))
                                    .isNotEqualTo(slice.at("/spec").has("devices"));
                        });
        System.out.printf(
                "DRA-PART-01: %d counters and %d devices in %d slices%n",
                counters.size(), gpus.published().size(), slices.size());
    }

    private static String[] references(JsonNode part) {
        return amounts(part).keySet().stream()
                .map(name -> part.path("counterSet").asText() + "/" + name)
                .toArray(String[]::new);
    }

    @Test
    @Tag("DRA-PART-02")
    void everyDeviceAloneFitsItsCounterSets() {
        Map<String, Quantity> counters = counters();

        assertThat(gpus.published().values())
                .hasSize(GPUS * (PARTITIONS + 1))
                .allSatisfy(
                        device -> {
                            JsonNode part = device.at("/consumesCounters/0");
                            amounts(part)
                                    .forEach(
                                            (name, amount) ->
                                                    assertThat(amount)
                                                            .isLessThanOrEqualTo(
                                                                    counters.get(
                                                                            part.path("counterSet")
                                                                                            .asText()
                                                                                    + "/"
                                                                                    + name)));
                        });
    }

    @Test
    @Tag("DRA-PART-02")
    void aFullGpuAndAPartitionOfItAreNotPreparedTogether() throws Exception {
        KubeletClaim part = gpus.driver.allocate("part", "gpu-3-partition-0");
        KubeletClaim other = gpus.driver.allocate("other", "gpu-3-partition-6", "gpu-4-full");
        KubeletClaim full = gpus.driver.allocate("full", "gpu-3-full");
        assertThat(gpus.prepare(part)).isEmpty();
        assertThat(gpus.prepare(other)).as("the rest of the GPU is free").isEmpty();

        assertRefused(full, stranger(part));
        gpus.restart();
        assertRefused(full, stranger(part));

        gpus.unprepare(part);
        gpus.unprepare(other);
        assertThat(gpus.prepare(full)).isEmpty();
        assertRefused(part, stranger(full));
    }

    /** The owner of a pod is told no other claim's name. */
    private static String stranger(KubeletClaim claim) {
        return "another claim (UID " + claim.uid().substring(0, 8);
    }

    private void assertRefused(KubeletClaim claim, String holder) {
        assertThat(gpus.prepare(claim))
                .hasValueSatisfying(
                        complaint -> assertThat(complaint).contains("gpu-3-counters", holder));
        assertThat(gpus.prepare(claim)).as("asked again").isPresent();
    }

    @Test
    @Tag("DRA-PART-02")
    void aFullGpuAndAPartitionOfItAreNotPreparedForOneClaim() throws Exception {
        KubeletClaim both = gpus.driver.allocate("both", "gpu-3-full", "gpu-3-partition-0");

        assertRefused(both, "takes more than there is");
        assertThat(gpus.driver.specs()).isEmpty();
    }
}
