// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * GPUs with all that they could be divided into, as devices that share the counters of their GPU.
 *
 * <p>Since Hopper, a GPU is offered whole and in parts, since its mode follows what is asked for.
 * Before, the mode needs a reset to switch: it is offered in parts or whole, as it is now.
 */
final class DynamicOffers {

    private final Attributes attributes;
    private final StaticOffers otherwise;

    DynamicOffers(Attributes attributes, StaticOffers otherwise) {
        this.attributes = attributes;
        this.otherwise = otherwise;
    }

    Offered of(Gpu gpu) {
        Mig mig = gpu.mig();
        if (mig == null || mig.profiles().isEmpty()) {
            return otherwise.whole(gpu);
        }
        boolean both = gpu.architecture().switchesMigModeAtOnce();
        if (!both && !mig.enabled()) {
            return otherwise.whole(gpu);
        }
        Map<Device, Offer> devices = new LinkedHashMap<>();
        List<String> troubles = new ArrayList<>();
        if (both) {
            devices.put(whole(gpu, mig), new Offer.Whole(gpu));
        }
        parts(gpu, mig, troubles).forEach(devices::put);
        CounterSet counters =
                new CounterSet(
                        DeviceNames.counterSet(gpu),
                        Capacities.counters(Capacities.most(mig.profiles()), all(mig)));
        return Offered.of(devices, counters, troubles);
    }

    /** All memory slices: as many as the largest instance takes. */
    private static Placement all(Mig mig) {
        return new Placement(
                0,
                mig.profiles().stream()
                        .flatMap(profile -> profile.placements().stream())
                        .mapToInt(Placement::size)
                        .max()
                        .orElse(0));
    }

    private Device whole(Gpu gpu, Mig mig) {
        Map<String, Quantity> amounts = Capacities.most(mig.profiles());
        return Device.builder(DeviceNames.gpu(gpu))
                .attributes(attributes.whole(gpu))
                .capacities(StaticOffers.capacities(amounts))
                .consumes(consumption(gpu, amounts, all(mig)))
                .build();
    }

    private Map<Device, Offer> parts(Gpu gpu, Mig mig, List<String> troubles) {
        Map<Device, Offer> parts = new LinkedHashMap<>();
        for (MigProfile profile : mig.profiles()) {
            ProfileName.of(gpu, profile)
                    .ifPresentOrElse(
                            name -> parts.putAll(parts(gpu, profile, name, troubles)),
                            () -> troubles.add(unknown(gpu, profile)));
        }
        return PackingOrder.of(parts);
    }

    private static String unknown(Gpu gpu, MigProfile profile) {
        return "The profile %d of %s is left out: this driver does not know its kind, %d"
                .formatted(profile.id(), DeviceNames.gpu(gpu), profile.index());
    }

    private Map<Device, Offer> parts(
            Gpu gpu, MigProfile profile, String name, List<String> troubles) {
        Map<Device, Offer> parts = new LinkedHashMap<>();
        if (profile.placements().isEmpty()) {
            troubles.add(
                    "%s of %s is left out: only root is told where it can be"
                            .formatted(name, DeviceNames.gpu(gpu)));
        }
        for (Placement placement : profile.placements()) {
            parts.put(
                    part(gpu, profile, name, placement),
                    new Offer.ToBeMade(gpu, profile, placement));
        }
        return parts;
    }

    private Device part(Gpu gpu, MigProfile profile, String name, Placement placement) {
        Map<String, Quantity> amounts = Capacities.of(profile);
        return Device.builder(DeviceNames.mig(gpu, name, profile, placement))
                .attributes(attributes.part(gpu, name))
                .capacities(StaticOffers.capacities(amounts))
                .consumes(consumption(gpu, amounts, placement))
                .build();
    }

    private static CounterConsumption consumption(
            Gpu gpu, Map<String, Quantity> amounts, Placement placement) {
        return new CounterConsumption(
                DeviceNames.counterSet(gpu), Capacities.counters(amounts, placement));
    }
}
