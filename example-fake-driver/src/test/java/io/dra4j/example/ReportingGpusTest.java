// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import org.junit.jupiter.api.Test;

class ReportingGpusTest {

    private static final FakeGpuProvider GPUS = new FakeGpuProvider("gpu.example.com", "node-a", 1);

    /** The GPUs of the time when the claim was allocated. */
    private static final FakeGpuProvider BEFORE = new FakeGpuProvider("gpu.example.com", "node-a", 8);

    private static PreparedDevice prepared(boolean status, boolean metadata, String gpu) throws Exception {
        DeviceProvider gpus = new ReportingGpus(GPUS, status, metadata);
        AllocatedClaim claim =
                AllocatedClaims.of("gpu.example.com", BEFORE).device(gpu).build();
        return gpus.prepare(claim, new RecordingClaimContext()).devices().get(0);
    }

    @Test
    void theStatusHasTheGpu() throws Exception {
        PreparedDevice gpu = prepared(true, false, "gpu-0");

        assertThat(gpu.status().data())
                .matches(
                        "\\{\"uuid\":\"gpu-[-0-9a-f]{36}\",\"model\":\"LATEST-GPU-MODEL\",\"driverVersion\":\"1.0.0\"}");
        assertThat(gpu.status().conditions()).hasSize(1);
        assertThat(gpu.metadata()).isNull();
    }

    @Test
    void theMetadataHasAllAttributes() throws Exception {
        PreparedDevice gpu = prepared(false, true, "gpu-0");

        assertThat(gpu.metadata().attributes())
                .containsOnlyKeys(
                        "index",
                        "uuid",
                        "model",
                        "driverVersion",
                        "resource.kubernetes.io/pcieRoot",
                        "resource.kubernetes.io/pciBusID");
        assertThat(gpu.status()).isNull();
    }

    @Test
    void anUnpluggedGpuIsNotReported() throws Exception {
        PreparedDevice gpu = prepared(true, true, "gpu-7");

        assertThat(gpu.status().data()).isNull();
        assertThat(gpu.metadata().attributes()).isEmpty();
    }

    @Test
    void gpusThatAreWaitedForAreReadyAtOnce() throws Exception {
        BindingConditions binding = new BoundDevices(GPUS)
                .inventory()
                .pools()
                .get(0)
                .devices()
                .get(0)
                .binding();

        assertThat(binding.conditions()).containsExactly("BindingConditions");
        assertThat(binding.failureConditions()).containsExactly("BindingFailureConditions");
        assertThat(BoundDevices.ready(new PendingDevice(
                        new ClaimRef("default", "claim", "uid"),
                        "r",
                        new PoolName("node-a"),
                        new DeviceName("gpu-0"),
                        null,
                        binding)))
                .singleElement()
                .matches(c -> c.type().equals("BindingConditions") && c.status() == ConditionStatus.TRUE);
    }
}
