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
 * GPUs with all possible MIG devices, which share the counters of their GPU.
 *
 * <p>Since Hopper, a GPU is offered whole and as MIG devices, since its mode follows the claims.
 * Before, a switch of the mode needs a reset: such a GPU is offered in its present mode.
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
        List<String> problems = new ArrayList<>();
        if (both) {
            devices.put(whole(gpu, mig), new Offer.Whole(gpu));
        }
        devices.putAll(onDemand(gpu, mig, problems));
        CounterSet counters =
                CounterSet.of(
                        DeviceNames.counterSet(gpu),
                        Capacities.counters(Capacities.most(mig.profiles()), all(mig)));
        return new Offered(devices, counters, problems);
    }

    /** Returns all memory slices, which the largest instance has. */
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
                .physicalId(gpu.uuid())
                .attributes(attributes.whole(gpu))
                .capacities(StaticOffers.capacities(amounts))
                .consumes(consumption(gpu, amounts, all(mig)))
                .build();
    }

    private Map<Device, Offer> onDemand(Gpu gpu, Mig mig, List<String> problems) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        for (MigProfile profile : mig.profiles()) {
            ProfileName.of(gpu, profile)
                    .ifPresentOrElse(
                            name -> devices.putAll(onDemand(gpu, profile, name, problems)),
                            () -> problems.add(unknown(gpu, profile)));
        }
        return PackingOrder.of(devices);
    }

    private static String unknown(Gpu gpu, MigProfile profile) {
        return "Profile %d of %s is left out: unknown index %d"
                .formatted(profile.id(), DeviceNames.gpu(gpu), profile.index());
    }

    private Map<Device, Offer> onDemand(
            Gpu gpu, MigProfile profile, String name, List<String> problems) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        if (profile.placements().isEmpty()) {
            problems.add(
                    "%s of %s is left out: NVML reports its placements only to root"
                            .formatted(name, DeviceNames.gpu(gpu)));
        }
        for (Placement placement : profile.placements()) {
            devices.put(
                    device(gpu, profile, name, placement),
                    new Offer.OnDemand(gpu, profile, placement));
        }
        return devices;
    }

    private Device device(Gpu gpu, MigProfile profile, String name, Placement placement) {
        Map<String, Quantity> amounts = Capacities.of(profile);
        return Device.builder(DeviceNames.mig(gpu, name, profile, placement))
                .physicalId(PhysicalIds.mig(gpu, profile, placement))
                .attributes(attributes.mig(gpu, name))
                .capacities(StaticOffers.capacities(amounts))
                .consumes(consumption(gpu, amounts, placement))
                .build();
    }

    private static CounterConsumption consumption(
            Gpu gpu, Map<String, Quantity> amounts, Placement placement) {
        return CounterConsumption.of(
                DeviceNames.counterSet(gpu), Capacities.counters(amounts, placement));
    }
}
