// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.sharing.MpsConfig;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.sharing.SharedGroup;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a group's daemon, as recorded in the journal: a daemon that has ended is restarted with the same
 * settings.
 *
 * @param devices the UUIDs of the devices; sorted, as those whose positions NVIDIA's own driver takes for limits
 * @param gpus the UUIDs of the whole GPUs among them
 * @param percentage the percentage of threads for each client; null for no limit
 * @param limits the pinned memory for each client in MiB, by the UUID of the device
 */
record DaemonSettings(
        List<String> devices,
        List<String> gpus,
        @Nullable Integer percentage,
        Map<String, Long> limits,
        boolean multiUser) {

    private static final int VOLTA = 7; // as the major compute capability
    private static final BigDecimal MIB = BigDecimal.valueOf(1 << 20);
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE); // as quantities in Go

    static DaemonSettings of(SharedGroup group) {
        MpsConfig config = Objects.requireNonNull(group.settings().mps(), "MPS has settings");
        boolean multiUser = Boolean.TRUE.equals(config.multiUser());
        group.devices().forEach(device -> requireFit(device, multiUser));
        List<String> devices =
                group.devices().stream().map(SharedDevice::uuid).sorted().toList();
        return new DaemonSettings(
                devices,
                group.devices().stream()
                        .filter(device -> device.mig() == null)
                        .map(SharedDevice::uuid)
                        .toList(),
                config.defaultActiveThreadPercentage(),
                limits(config, devices),
                multiUser);
    }

    private static void requireFit(SharedDevice device, boolean multiUser) {
        String name = device.allocated().device().value();
        Gpu gpu = device.gpu();
        String capability = gpu.computeCapability();
        if (capability == null) {
            throw new PrepareException(
                    "Device %s can't be shared by MPS: NVML does not report its compute capability, which has to be 7.0 (Volta) or newer"
                            .formatted(name));
        }
        if (Integer.parseInt(capability.split("\\.")[0]) < VOLTA) {
            throw new PrepareException(
                    "Device %s has compute capability %s, and MPS%s needs 7.0 (Volta) or newer; use time slices, or another GPU"
                            .formatted(
                                    name,
                                    capability,
                                    multiUser ? " with multiUser" : " with limits for each container"));
        }
    }

    /** Applies the limit for all devices first, then those of single devices. */
    private static Map<String, Long> limits(MpsConfig config, List<String> devices) {
        Map<String, Long> limits = new LinkedHashMap<>();
        Quantity all = config.defaultPinnedDeviceMemoryLimit();
        if (all != null) {
            devices.forEach(device -> limits.put(device, mebibytes(all)));
        }
        Map<String, Quantity> some = config.defaultPerDevicePinnedMemoryLimit();
        if (some != null) {
            new TreeMap<>(some).forEach((key, limit) -> limits.put(device(key, devices), mebibytes(limit)));
        }
        return limits;
    }

    private static long mebibytes(Quantity limit) {
        return limit.amount().min(MOST).divideToIntegralValue(MIB).longValue();
    }

    private static String device(String key, List<String> devices) {
        if (devices.contains(key)) {
            return key;
        }
        int position = key.matches("[0-9]+") ? Integer.parseInt(key) : devices.size();
        if (position >= devices.size()) {
            throw new PrepareException(
                    "defaultPerDevicePinnedMemoryLimit[%s]: invalid device: the claim has no such device with this configuration; it has %s"
                            .formatted(key, numbered(devices)));
        }
        return devices.get(position);
    }

    private static String numbered(List<String> devices) {
        List<String> named = new ArrayList<>();
        for (String device : devices) {
            named.add(named.size() + " (" + device + ")");
        }
        return String.join(", ", named);
    }

    /** Returns the commands that set the limits, in the daemon's own language. */
    List<String> commands() {
        List<String> commands = new ArrayList<>();
        if (percentage != null) {
            commands.add("set_default_active_thread_percentage " + percentage);
        }
        limits.forEach(
                (device, limit) -> commands.add("set_default_device_pinned_mem_limit %s %dM".formatted(device, limit)));
        return commands;
    }
}
