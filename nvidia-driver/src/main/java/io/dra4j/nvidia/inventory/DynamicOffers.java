// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.inventory.Offer.OnDemand;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.nvml.Problem.Cost;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;

/**
 * GPUs with all possible MIG devices, which share the counters of their GPU.
 *
 * <p>Since Hopper, a GPU is offered whole and as MIG devices, since its mode follows the claims.
 * Before, and on boards that prove to be so, a switch of the mode needs a reset: such a GPU is
 * offered in its present mode. A vGPU is offered as it is.
 */
final class DynamicOffers {

    private final Attributes attributes;
    private final StaticOffers otherwise;
    private final Shares shares;

    DynamicOffers(Attributes attributes, StaticOffers otherwise, Shares shares) {
        this.attributes = attributes;
        this.otherwise = otherwise;
        this.shares = shares;
    }

    Offered of(Gpu gpu, Problems problems) {
        Mig mig = gpu.mig();
        boolean both = gpu.switchesMigModeAtOnce();
        if (mig != null && !mig.enabled() && mig.modeNeedsReset()) {
            return new Offered(otherwise.whole(gpu), null, List.of(needsReset(gpu)));
        }
        if (mig == null || gpu.vgpu() || (!both && !mig.enabled())) {
            return otherwise.of(gpu, problems);
        }
        List<LeftOut> leftOut = problems.leftOut(gpu, Cost.PROFILE, Cost.PLACEMENTS);
        if (mig.profiles().isEmpty()) {
            return new Offered(otherwise.whole(gpu), null, leftOut);
        }
        Map<String, Quantity> most =
                problems.has(gpu, Cost.PROFILE) ? Capacities.together(mig.profiles()) : Capacities.most(mig.profiles());
        Map<Device, Offer> devices = new LinkedHashMap<>();
        if (both) {
            devices.put(whole(gpu, mig, most), new Offer.Whole(gpu));
        }
        devices.putAll(onDemand(gpu, mig, leftOut));
        CounterSet counters = CounterSet.of(DeviceNames.counterSet(gpu), Capacities.counters(most, all(mig)));
        return new Offered(devices, counters, leftOut);
    }

    private static LeftOut needsReset(Gpu gpu) {
        return new LeftOut(
                "MIG devices of " + gpu.uuid(),
                "a switch of the GPU's MIG mode needs a reset: the administrator runs nvidia-smi -i %s -mig 1, and resets the GPU or reboots the node"
                        .formatted(gpu.uuid()));
    }

    /** Returns all memory slices, which the largest instance has, or several have together. */
    private static Placement all(Mig mig) {
        return new Placement(
                0,
                mig.profiles().stream()
                        .flatMap(profile -> profile.placements().stream())
                        .mapToInt(placement -> placement.start() + placement.size())
                        .max()
                        .orElse(0));
    }

    private Device whole(Gpu gpu, Mig mig, Map<String, Quantity> amounts) {
        Device.Builder device = Device.builder(DeviceNames.gpu(gpu))
                .physicalId(gpu.uuid())
                .attributes(attributes.whole(gpu))
                .consumes(consumption(gpu, amounts, all(mig)));
        return shares.applyTo(device, amounts).build();
    }

    private Map<Device, Offer> onDemand(Gpu gpu, Mig mig, List<LeftOut> leftOut) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        for (MigProfile profile : mig.profiles()) {
            ProfileName.of(gpu, profile)
                    .ifPresentOrElse(
                            name -> devices.putAll(onDemand(gpu, profile, name)),
                            () -> leftOut.add(unknown(gpu, profile)));
        }
        return PackingOrder.of(devices);
    }

    private static LeftOut unknown(Gpu gpu, MigProfile profile) {
        return new LeftOut(
                "MIG profile %d of %s".formatted(profile.id(), gpu.uuid()), "unknown index " + profile.index());
    }

    private Map<Device, Offer> onDemand(Gpu gpu, MigProfile profile, String name) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        for (Placement placement : profile.placements()) {
            devices.put(device(gpu, profile, name, placement), new Offer.OnDemand(gpu, profile, placement));
        }
        return devices;
    }

    private Device device(Gpu gpu, MigProfile profile, String name, Placement placement) {
        Map<String, Quantity> amounts = Capacities.of(profile);
        Device.Builder device = Device.builder(DeviceNames.mig(gpu, name, profile, placement))
                .physicalId(PhysicalIds.mig(gpu, profile, placement))
                .attributes(attributes.mig(gpu, name))
                .consumes(consumption(gpu, amounts, placement));
        return shares.applyTo(device, amounts).build();
    }

    private static CounterConsumption consumption(Gpu gpu, Map<String, Quantity> amounts, Placement placement) {
        return CounterConsumption.of(DeviceNames.counterSet(gpu), Capacities.counters(amounts, placement));
    }

    /**
     * The order of a GPU's on-demand MIG devices; the scheduler allocates the first that fits.
     *
     * <p>Small profiles come first: a claim for any of them gets no more than it needs. Within a profile, placements
     * are taken from the first memory slice up, except for profiles with fewer compute slices than memory slices, which
     * are placed from the last one down. Boards with eight memory slices have seven compute slices: only such instances
     * can use the last memory slice, and the other half stays free for instances of four slices, which have only one
     * placement.
     *
     * <p>Over many sequences of claims, more are accepted than in the order of names, though not in each sequence: a
     * large claim that the order of names rejects leaves less room for later small ones. Boards whose profiles all have
     * a compute slice for each memory slice, such as the A30, are filled in the order of names.
     */
    private static final class PackingOrder {

        private PackingOrder() {}

        static Map<Device, Offer> of(Map<Device, Offer> devices) {
            Map<Device, Offer> ordered = new LinkedHashMap<>();
            devices.entrySet().stream()
                    .sorted(Comparator.comparing(PackingOrder::onDemand, smallFirst()))
                    .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
            return ordered;
        }

        private static OnDemand onDemand(Entry<Device, Offer> entry) {
            return (OnDemand) entry.getValue();
        }

        private static Comparator<OnDemand> smallFirst() {
            return Comparator.<OnDemand>comparingInt(mig -> mig.placement().size())
                    .thenComparingInt(mig -> mig.profile().slices())
                    .thenComparingInt(mig -> mig.profile().index())
                    .thenComparingInt(PackingOrder::position);
        }

        private static int position(OnDemand mig) {
            int start = mig.placement().start();
            return mig.profile().slices() < mig.placement().size() ? -start : start;
        }
    }
}
