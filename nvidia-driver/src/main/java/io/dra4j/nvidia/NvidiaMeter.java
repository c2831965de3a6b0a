// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.nvidia.health.DeviceFaults;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.state.ClaimState;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures GPUs and MIG devices for one scrape, in one session of NVML.
 *
 * <p>A GPU is measured once for all its MIG devices. If a call about it hangs, the other calls fail immediately instead
 * of hanging too. Thread-safe.
 */
final class NvidiaMeter implements DeviceMeter {

    private final Nvml nvml;
    private final NodeDevices devices;
    private final DeviceFaults faults;
    private final Set<String> measuring;
    private final Lease session;
    private final Map<String, Map<DeviceMeasure, Double>> gpus = new ConcurrentHashMap<>();

    /**
     * Opens a meter.
     *
     * @param measuring the GPUs that are being measured, by any meter; thread-safe
     */
    NvidiaMeter(Nvml nvml, NodeDevices devices, DeviceFaults faults, Set<String> measuring) {
        this.nvml = nvml;
        this.devices = devices;
        this.faults = faults;
        this.measuring = measuring;
        this.session = nvml.keep();
    }

    @Override
    public DeviceReadings measure(HeldClaim claim, HeldDevice device) {
        Offer offer = devices.offer(device.device()).orElse(null);
        if (offer == null) {
            return DeviceReadings.NONE; // the GPU is gone, or can't be read
        }
        String gpu = offer.uuid();
        DeviceReadings.Builder readings = DeviceReadings.builder();
        if (offer instanceof Offer.Passthrough) { // NVML does not see the GPU of a virtual machine
            return readings.uuid(gpu).build();
        }
        if (offer instanceof Offer.Whole) {
            readings.uuid(gpu);
            whole(gpu).forEach(readings::value);
            return readings.build();
        }
        readings.parentUuid(gpu);
        whole(gpu).forEach(readings::parentValue);
        String mig = mig(offer, claim, device);
        if (mig != null) {
            readings.uuid(mig);
            alone(gpu, () -> nvml.measureMig(gpu, mig)).forEach(readings::value);
        }
        return readings.build();
    }

    /** Returns null for an on-demand device of another claim, used with admin access. */
    private static @Nullable String mig(Offer offer, HeldClaim claim, HeldDevice device) {
        return offer instanceof Offer.Existing existing
                ? existing.device().uuid()
                : MigDeviceAllocator.created(
                                ClaimState.read(claim.state()).mig(),
                                device.device().value())
                        .orElse(null);
    }

    private Map<DeviceMeasure, Double> whole(String gpu) {
        Map<DeviceMeasure, Double> known = gpus.get(gpu);
        if (known != null) {
            return known;
        }
        Map<DeviceMeasure, Double> values = new EnumMap<>(DeviceMeasure.class);
        values.putAll(alone(gpu, () -> nvml.measure(gpu)));
        faults.reported(gpu).ifPresent(times -> values.put(DeviceMeasure.FAULTS, (double) times));
        gpus.put(gpu, values);
        return values;
    }

    private <T> T alone(String gpu, Supplier<T> calls) {
        if (!measuring.add(gpu)) {
            throw new DraException(
                    "An earlier measurement of %s has not returned: the GPU or its driver hangs; see its kernel log"
                            .formatted(gpu));
        }
        try {
            return calls.get();
        } finally {
            measuring.remove(gpu);
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
