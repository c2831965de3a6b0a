// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionedGpusTest {

    private static Pool pool(int gpus, int partitions) throws Exception {
        FakeGpuProvider whole = new FakeGpuProvider("gpu.example.com", "node-a", gpus);
        return new PartitionedGpus(whole, partitions).inventory().pools().get(0);
    }

    private static Map<String, Quantity> amounts(String memory, String compute) {
        return Map.of("memory", new Quantity(memory), "compute", new Quantity(compute));
    }

    @Test
    void areEachGpusPartitionsAndTheFullGpu() throws Exception {
        assertThat(pool(2, 2).devices())
                .extracting(device -> device.name().value())
                .containsExactly(
                        "gpu-0-partition-0",
                        "gpu-0-partition-1",
                        "gpu-0-full",
                        "gpu-1-partition-0",
                        "gpu-1-partition-1",
                        "gpu-1-full");
    }

    @Test
    void shareTheCountersOfTheirGpu() throws Exception {
        Pool pool = pool(2, 4);

        assertThat(pool.counterSets())
                .containsExactly(
                        CounterSet.of("gpu-0-counters", amounts("80Gi", "100")),
                        CounterSet.of("gpu-1-counters", amounts("80Gi", "100")));
        assertThat(pool.devices().get(5).consumesCounters()).singleElement().satisfies(part -> {
            assertThat(part.counterSet()).isEqualTo("gpu-1-counters");
            assertThat(part.counters()).isEqualTo(amounts("20Gi", "25"));
        });
        assertThat(pool.devices().get(9).consumesCounters().get(0).counters())
                .as("of gpu-1-full")
                .isEqualTo(amounts("80Gi", "100"));
    }

    @Test
    void haveTheirPartitionNumber() throws Exception {
        Device partition = pool(1, 2).devices().get(1);
        Device full = pool(1, 2).devices().get(2);

        assertThat(partition.attributes())
                .containsEntry("partition", AttributeValue.of(1))
                .containsEntry("partitionable", AttributeValue.of(true))
                .containsKeys("index", "uuid", "model", "driverVersion")
                .doesNotContainKey("full");
        assertThat(full.attributes())
                .containsEntry("full", AttributeValue.of(true))
                .containsEntry("partitionable", AttributeValue.of(true))
                .doesNotContainKey("partition");
    }

    @ParameterizedTest
    @CsvSource({"1,80Gi,100", "3,26Gi,33", "7,11Gi,14", "80,1Gi,1"})
    void haveWholeUnitsOfEachCapacity(int partitions, String memory, String compute) throws Exception {
        Device part = pool(1, partitions).devices().get(0);

        assertThat(part.capacities().get("memory").value()).hasToString(memory);
        assertThat(part.capacities().get("compute").value()).hasToString(compute);
    }

    @Test
    void areNamedToContainersAsTheyAreCalled() {
        assertThat(Map.of(
                        "part", variable("gpu-0-partition-1"),
                        "full", variable("gpu-0-full"),
                        "whole", variable("gpu-12")))
                .containsOnly(
                        entry("part", "GPU_DEVICE_0_PARTITION_1"),
                        entry("full", "GPU_DEVICE_0_FULL"),
                        entry("whole", "GPU_DEVICE_12"));
    }

    private static String variable(String device) {
        return FakeGpuProvider.variable(new DeviceName(device));
    }
}
