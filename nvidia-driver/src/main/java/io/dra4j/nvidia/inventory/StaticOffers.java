// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Problem.Cost;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** GPUs in their present mode: whole GPUs, or the existing MIG devices. */
final class StaticOffers {

    private final Attributes attributes;
    private final Shares shares;

    StaticOffers(Attributes attributes, Shares shares) {
        this.attributes = attributes;
        this.shares = shares;
    }

    Offered of(Gpu gpu, Problems problems) {
        Mig mig = gpu.mig();
        return mig != null && mig.enabled() ? existing(gpu, mig, problems) : Offered.of(whole(gpu));
    }

    Map<Device, Offer> whole(Gpu gpu) {
        Device.Builder device =
                Device.builder(DeviceNames.gpu(gpu)).physicalId(gpu.uuid()).attributes(attributes.whole(gpu));
        return Map.of(shares.applyTo(device, Capacities.of(gpu)).build(), new Offer.Whole(gpu));
    }

    private Offered existing(Gpu gpu, Mig mig, Problems problems) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        List<LeftOut> leftOut = problems.leftOut(gpu, Cost.PROFILE, Cost.INSTANCE);
        for (MigDevice migDevice : mig.devices()) {
            device(gpu, mig, migDevice)
                    .ifPresentOrElse(
                            device -> devices.put(device, new Offer.Existing(gpu, migDevice)),
                            () -> leftOut.add(unknown(gpu, migDevice)));
        }
        leftOut.addAll(problems.unplaced(gpu));
        if (devices.isEmpty() && leftOut.isEmpty()) {
            leftOut.add(new LeftOut(gpu.uuid(), "it is in MIG mode, and has no MIG device"));
        }
        return new Offered(devices, null, leftOut);
    }

    private static LeftOut unknown(Gpu gpu, MigDevice device) {
        return new LeftOut(device.uuid() + " of " + gpu.uuid(), "unknown profile " + device.profileId());
    }

    private Optional<Device> device(Gpu gpu, Mig mig, MigDevice existing) {
        return mig.profile(existing.profileId())
                .flatMap(profile -> ProfileName.of(gpu, profile).map(name -> device(gpu, existing, profile, name)));
    }

    private Device device(Gpu gpu, MigDevice existing, MigProfile profile, String name) {
        Map<String, Quantity> amounts = new LinkedHashMap<>(Capacities.of(profile));
        amounts.putAll(Capacities.slices(existing.placement()));
        Device.Builder device = Device.builder(DeviceNames.mig(gpu, name, profile, existing.placement()))
                .physicalId(PhysicalIds.mig(gpu, profile, existing.placement()))
                .attributes(attributes.mig(gpu, name))
                .attribute("uuid", existing.uuid());
        return shares.applyTo(device, amounts).build();
    }
}
