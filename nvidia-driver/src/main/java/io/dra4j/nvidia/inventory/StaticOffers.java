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

/** GPUs as the administrator has divided them: a whole one, or the MIG devices that are there. */
final class StaticOffers {

    private final Attributes attributes;

    StaticOffers(Attributes attributes) {
        this.attributes = attributes;
    }

    Offered of(Gpu gpu) {
        Mig mig = gpu.mig();
        return mig != null && mig.enabled() ? parts(gpu, mig) : whole(gpu);
    }

    Offered whole(Gpu gpu) {
        Device device =
                Device.builder(DeviceNames.gpu(gpu))
                        .attributes(attributes.whole(gpu))
                        .capacities(capacities(Capacities.of(gpu)))
                        .build();
        return Offered.of(Map.of(device, new Offer.Whole(gpu)), List.of());
    }

    private Offered parts(Gpu gpu, Mig mig) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        List<String> troubles = new ArrayList<>();
        for (MigDevice made : mig.devices()) {
            part(gpu, mig, made)
                    .ifPresentOrElse(
                            device -> devices.put(device, new Offer.Made(gpu, made)),
                            () -> troubles.add(unknown(gpu, made)));
        }
        if (devices.isEmpty()) {
            troubles.add(
                    "%s is in MIG mode and has no MIG device: it offers nothing"
                            .formatted(DeviceNames.gpu(gpu)));
        }
        return Offered.of(devices, troubles);
    }

    private static String unknown(Gpu gpu, MigDevice made) {
        return "%s of %s is left out: this driver does not know the profile %d"
                .formatted(made.uuid(), DeviceNames.gpu(gpu), made.profileId());
    }

    private Optional<Device> part(Gpu gpu, Mig mig, MigDevice made) {
        return mig.profile(made.profileId())
                .flatMap(
                        profile ->
                                ProfileName.of(gpu, profile)
                                        .map(name -> part(gpu, made, profile, name)));
    }

    private Device part(Gpu gpu, MigDevice made, MigProfile profile, String name) {
        Map<String, Quantity> amounts = new LinkedHashMap<>(Capacities.of(profile));
        amounts.putAll(Capacities.slices(made.placement()));
        return Device.builder(DeviceNames.mig(gpu, name, profile, made.placement()))
                .attributes(attributes.part(gpu, name))
                .attribute("uuid", made.uuid())
                .capacities(capacities(amounts))
                .build();
    }

    static Map<String, Capacity> capacities(Map<String, Quantity> amounts) {
        Map<String, Capacity> capacities = new LinkedHashMap<>();
        amounts.forEach((name, amount) -> capacities.put(name, new Capacity(amount, null)));
        return capacities;
    }
}
