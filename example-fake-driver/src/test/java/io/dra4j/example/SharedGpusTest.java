// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SharedGpusTest {

    private static final String SHARE = "11111111-2222-4333-8444-555555555555";

    private final DeviceProvider whole = new FakeGpuProvider("gpu.example.com", "node-a", 1);

    @Test
    void takeSeveralClaimsOfWholeUnits() throws Exception {
        Device gpu = first(new SharedGpus(whole));

        assertThat(gpu.allowMultipleAllocations()).isTrue();
        assertThat(range(gpu, "memory")).isEqualTo(range("1Gi", "80Gi"));
        assertThat(range(gpu, "compute")).isEqualTo(range("1", "100"));
    }

    @Test
    void areTakenAsAWholeByAClaimThatAsksForNoAmount() throws Exception {
        assertThat(first(new SharedGpus(whole)).capacities().values())
                .hasSize(2)
                .allSatisfy(capacity ->
                        assertThat(capacity.requestPolicy().defaultValue()).isEqualTo(capacity.value()));
    }

    @Test
    void mayBePartitionsOfAnySize() throws Exception {
        for (int partitions = 1; partitions <= PartitionedGpus.MOST_PARTITIONS; partitions++) {
            Device part = first(new SharedGpus(new PartitionedGpus(whole, partitions)));

            assertThat(part.consumesCounters()).hasSize(1);
            assertThat(part.capacities().values())
                    .as(partitions + " partitions")
                    .allSatisfy(SharedGpusTest::aWholeNumberOfSteps);
        }
    }

    private static void aWholeNumberOfSteps(Capacity capacity) {
        ValidRange range = capacity.requestPolicy().validRange();
        assertThat(range.min()).isLessThanOrEqualTo(range.max());
        assertThat(capacity.value().amount().remainder(range.step().amount())).isZero();
    }

    @Test
    void setTheirAmounts() throws Exception {
        Map<String, Quantity> share = Map.of("memory", new Quantity("10Gi"), "compute", new Quantity("5"));

        assertThat(environment(share))
                .contains(
                        entry("GPU_DEVICE_0", "gpu-0"),
                        entry("GPU_DEVICE_0_MEMORY", "10Gi"),
                        entry("GPU_DEVICE_0_COMPUTE", "5"));
        assertThat(environment(Map.of()))
                .containsEntry("GPU_DEVICE_0", "gpu-0")
                .doesNotContainKeys("GPU_DEVICE_0_MEMORY", "GPU_DEVICE_0_COMPUTE");
    }

    private Map<String, String> environment(Map<String, Quantity> share) throws Exception {
        DeviceProvider shared = new SharedGpus(whole);
        AllocatedClaim claim = AllocatedClaims.of("gpu.example.com", shared)
                .share("gpu-0", SHARE, share)
                .build();
        PreparedClaim prepared = shared.prepare(claim, new RecordingClaimContext());
        return prepared.devices().get(0).edits().env();
    }

    private static Device first(DeviceProvider gpus) throws Exception {
        return gpus.inventory().pools().get(0).devices().get(0);
    }

    private static ValidRange range(Device gpu, String capacity) {
        return gpu.capacities().get(capacity).requestPolicy().validRange();
    }

    private static ValidRange range(String minAndStep, String max) {
        return new ValidRange(new Quantity(minAndStep), new Quantity(max), new Quantity(minAndStep));
    }
}
