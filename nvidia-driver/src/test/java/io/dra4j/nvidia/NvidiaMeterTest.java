// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.nvidia.health.DeviceFaults;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.standin.StandInNode;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** GPUs and MIG devices that do not exist are measured. */
class NvidiaMeterTest extends ProviderOnBoards {

    /**
     * Times of calls in microseconds. The first three were published by others who measured them on a board with
     * driver 610; of the rest, calls that ask the kernel count as expensive, and calls that NVML answers itself as
     * one.
     */
    private static final Map<String, Integer> MICROS = Map.of(
            "nvmlDeviceGetHandleByUUID", 6000,
            "nvmlDeviceGetPowerUsage", 3300,
            "nvmlDeviceGetFieldValues", 450,
            "nvmlDeviceGetGpuInstanceId", 1,
            "nvmlGpmSampleAlloc", 1,
            "nvmlGpmSampleFree", 1);

    private static final int OTHERS = 50;
    private static final int SMALLEST = 19; // the hardware's number of 1g.10gb
    private static final int IN_A_GPU = 7;

    private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5c9d52-1111");

    private static HeldDevice device(String name) {
        return HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName(name))
                .build();
    }

    private static HeldClaim held(String device) {
        return HeldClaim.builder(CLAIM)
                .phase(HeldClaim.Phase.PREPARED)
                .device(device(device))
                .build();
    }

    private static DeviceReadings measure(DeviceMeter meter, HeldClaim claim) throws Exception {
        return meter.measure(claim, claim.devices().get(0));
    }

    private DeviceFaults faults() {
        return new DeviceFaults(new HealthPolicy(
                ErrorWatch.never,
                XidEffects.DEFAULT,
                Effect.NONE,
                Thresholds.NONE,
                false,
                Duration.ofMinutes(1),
                new HealthStateFile(folder.resolve("gpus.json"), node.proc())));
    }

    @Test
    void aGpuThatIsLostFailsAndCostsNoOther() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.lost(0, true);

        try (DeviceMeter meter = provider.meter()) {
            assertThatThrownBy(() -> measure(meter, held("gpu-0")))
                    .isInstanceOf(NvmlException.class)
                    .hasMessageContaining(hardware.uuid(0));
            assertThat(measure(meter, held("gpu-1")).values()).isNotEmpty();
        }
    }

    @Test
    void aScrapeOfEightGpusWith56MigDevicesNeedsLessThan50Millis() throws Exception {
        node = StandInNode.install(folder, "h100-80");
        hardware = node.state();
        for (int gpu = 0; gpu < hardware.gpus(); gpu++) {
            hardware.setMig(gpu, true);
            for (int start = 0; start < IN_A_GPU; start++) {
                node.administrator().createInstance(gpu, SMALLEST, start, 0);
            }
        }
        try (Nvml nvml = node.nvml();
                Lease kept = nvml.keep()) { // as the watch keeps one while a claim has a GPU
            assertThat(kept).isNotNull();
            NodeDevices devices = NodeDevices.of(nvml.read(), new NodeDevices.Settings("node-1", node.sysfs(), false));
            List<HeldClaim> claims = devices.offers().keySet().stream()
                    .map(name -> held(name.value()))
                    .toList();
            assertThat(claims).hasSize(8 * IN_A_GPU);
            scrape(nvml, devices, claims);
            long before = micros();

            List<DeviceReadings> second = scrape(nvml, devices, claims);

            assertThat(second).allSatisfy(one -> {
                assertThat(one.uuid()).startsWith("MIG-");
                assertThat(one.values()).hasSize(3);
                assertThat(one.parentValues()).hasSizeGreaterThan(6);
            });
            assertThat(micros() - before).isPositive().isLessThan(50_000);
        }
    }

    private List<DeviceReadings> scrape(Nvml nvml, NodeDevices devices, List<HeldClaim> claims) {
        try (NvidiaMeter meter = new NvidiaMeter(nvml, devices, faults(), new HashSet<>())) {
            return claims.stream()
                    .map(claim -> meter.measure(claim, claim.devices().get(0)))
                    .toList();
        }
    }

    private long micros() {
        return hardware.calls().entrySet().stream()
                .mapToLong(call -> (long) call.getValue() * MICROS.getOrDefault(call.getKey(), OTHERS))
                .sum();
    }

    @Test
    void aScrapeDoesNotWaitForAGpuThatHangs() {
        node = StandInNode.install(folder, "l40s");
        hardware = node.state();
        try (Nvml nvml = node.nvml()) {
            NodeDevices devices = NodeDevices.of(nvml.read(), new NodeDevices.Settings("node-1", node.sysfs(), false));
            Set<String> measuring = new HashSet<>(Set.of(hardware.uuid(0)));
            try (NvidiaMeter meter = new NvidiaMeter(nvml, devices, faults(), measuring)) {
                HeldClaim hanging = held("gpu-0");
                assertThatThrownBy(() -> measure(meter, hanging))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining(hardware.uuid(0) + " has not returned: the GPU");
                assertThat(meter.measure(held("gpu-1"), device("gpu-1")).values())
                        .as("without a watch, faults are unknown")
                        .containsKey(DeviceMeasure.POWER)
                        .doesNotContainKey(DeviceMeasure.FAULTS);
            }
            assertThat(measuring).containsExactly(hardware.uuid(0));
        }
    }

    @Test
    void aScrapeKeepsNoSessionAfterwards() throws Exception {
        node = StandInNode.install(folder, "l40s");
        hardware = node.state();
        try (Nvml nvml = node.nvml()) {
            NodeDevices devices = NodeDevices.of(nvml.read(), new NodeDevices.Settings("node-1", node.sysfs(), false));
            List<HeldClaim> claims =
                    IntStream.range(0, 2).mapToObj(i -> held("gpu-" + i)).toList();
            scrape(nvml, devices, claims);
            int before = hardware.calls().get("nvmlDeviceGetHandleByUUID");
            scrape(nvml, devices, claims);

            assertThat(hardware.calls().get("nvmlDeviceGetHandleByUUID") - before)
                    .as("look-ups, which a new session needs once for each GPU")
                    .isEqualTo(2);
        }
    }
}
