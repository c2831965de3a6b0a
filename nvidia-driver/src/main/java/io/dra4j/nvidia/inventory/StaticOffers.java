// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** GPUs in their present mode: whole GPUs, or the existing MIG devices. */
final class StaticOffers {

    private final Attributes attributes;

    StaticOffers(Attributes attributes) {
        this.attributes = attributes;
    }

    Offered of(Gpu gpu) {
        Mig mig = gpu.mig();
        return mig != null && mig.enabled() ? existing(gpu, mig) : whole(gpu);
    }

    Offered whole(Gpu gpu) {
        Device device =
                Device.builder(DeviceNames.gpu(gpu))
                        .physicalId(gpu.uuid())
                        .attributes(attributes.whole(gpu))
                        .capacities(capacities(Capacities.of(gpu)))
                        .build();
        return new Offered(Map.of(device, new Offer.Whole(gpu)), null, List.of());
    }

    private Offered existing(Gpu gpu, Mig mig) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        for (MigDevice migDevice : mig.devices()) {
            device(gpu, mig, migDevice)
                    .ifPresentOrElse(
                            device -> devices.put(device, new Offer.Existing(gpu, migDevice)),
                            () -> problems.add(unknown(gpu, migDevice)));
        }
        if (devices.isEmpty()) {
            problems.add(
                    "%s is in MIG mode and has no MIG device: nothing is published"
                            .formatted(DeviceNames.gpu(gpu)));
        }
        return new Offered(devices, null, problems);
    }

    private static String unknown(Gpu gpu, MigDevice device) {
        return "%s of %s is left out: unknown profile %d"
                .formatted(device.uuid(), DeviceNames.gpu(gpu), device.profileId());
    }

    private Optional<Device> device(Gpu gpu, Mig mig, MigDevice existing) {
        return mig.profile(existing.profileId())
                .flatMap(
                        profile ->
                                ProfileName.of(gpu, profile)
                                        .map(name -> device(gpu, existing, profile, name)));
    }

    private Device device(Gpu gpu, MigDevice existing, MigProfile profile, String name) {
        Map<String, Quantity> amounts = new LinkedHashMap<>(Capacities.of(profile));
        amounts.putAll(Capacities.slices(existing.placement()));
        return Device.builder(DeviceNames.mig(gpu, name, profile, existing.placement()))
                .physicalId(PhysicalIds.mig(gpu, profile, existing.placement()))
                .attributes(attributes.mig(gpu, name))
                .attribute("uuid", existing.uuid())
                .capacities(capacities(amounts))
                .build();
    }

    static Map<String, Capacity> capacities(Map<String, Quantity> amounts) {
        Map<String, Capacity> capacities = new LinkedHashMap<>();
        amounts.forEach((name, amount) -> capacities.put(name, new Capacity(amount, null)));
        return capacities;
    }
}
