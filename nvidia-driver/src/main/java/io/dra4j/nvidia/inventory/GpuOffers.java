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
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.NvmlProblem;
import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.nvml.UnplacedMigDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The devices that one reading offers to containers: GPUs in their present mode, whole or as existing MIG devices, or
 * with all possible MIG devices, which share their GPU's counters.
 *
 * <p>Since Hopper, a GPU is offered whole and as possible MIG devices, because its mode follows the claims.
 * On earlier GPUs, and on boards that turn out to need it, switching the mode needs a reset: such a GPU is offered in
 * its present mode. A vGPU is offered as is.
 */
record GpuOffers(Attributes attributes, Shares shares, Gaps gaps) {

    /**
     * The devices of one GPU.
     *
     * @param devices the devices with their hardware, in the order of allocation
     * @param counters the counters that they share; null if there are none
     * @param leftOut the GPU, or MIG devices, that are not offered
     */
    record Offered(Map<Device, Offer> devices, @Nullable CounterSet counters, List<LeftOut> leftOut) {

        static Offered of(Map<Device, Offer> devices) {
            return new Offered(devices, null, List.of());
        }

        Offered {
            devices = Collections.unmodifiableMap(new LinkedHashMap<>(devices));
            leftOut = List.copyOf(leftOut);
        }
    }

    /** Returns a GPU in its present mode: whole, or as its existing MIG devices. */
    Offered present(Gpu gpu) {
        Mig mig = gpu.mig();
        return mig != null && mig.enabled() ? existing(gpu, mig) : Offered.of(whole(gpu));
    }

    private Map<Device, Offer> whole(Gpu gpu) {
        return Map.of(shares.applyTo(described(gpu), Capacities.of(gpu)).build(), new Offer.Whole(gpu));
    }

    private Device.Builder described(Gpu gpu) {
        return Device.builder(DeviceNames.gpu(gpu)).physicalId(gpu.uuid()).attributes(attributes.whole(gpu));
    }

    private Offered existing(Gpu gpu, Mig mig) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        List<LeftOut> leftOut = gaps.leftOut(gpu, Cost.PROFILE, Cost.INSTANCE);
        for (MigDevice migDevice : mig.devices()) {
            device(gpu, mig, migDevice)
                    .ifPresentOrElse(
                            device -> devices.put(device, new Offer.Existing(gpu, migDevice)),
                            () -> leftOut.add(unknown(gpu, migDevice)));
        }
        leftOut.addAll(gaps.unplaced(gpu));
        if (devices.isEmpty() && leftOut.isEmpty()) {
            leftOut.add(new LeftOut(gpu.uuid(), "it is in MIG mode, but has no MIG device"));
        }
        return new Offered(devices, null, leftOut);
    }

    private static LeftOut unknown(Gpu gpu, MigDevice device) {
        return new LeftOut(device.uuid() + " of " + gpu.uuid(), "unknown profile " + device.profileId());
    }

    private Optional<Device> device(Gpu gpu, Mig mig, MigDevice existing) {
        return mig.profile(existing.profileId())
                .flatMap(
                        profile -> DeviceNames.profile(gpu, profile).map(name -> device(gpu, existing, profile, name)));
    }

    private Device device(Gpu gpu, MigDevice existing, MigProfile profile, String name) {
        Map<String, Quantity> amounts = new LinkedHashMap<>(Capacities.of(profile));
        amounts.putAll(Capacities.slices(existing.placement()));
        Device.Builder device =
                described(gpu, profile, name, existing.placement()).attribute("uuid", existing.uuid());
        return shares.applyTo(device, amounts).build();
    }

    private Device.Builder described(Gpu gpu, MigProfile profile, String name, InstancePlacement placement) {
        return Device.builder(DeviceNames.mig(gpu, name, profile, placement))
                .physicalId(DeviceNames.physicalId(gpu, profile, placement))
                .attributes(attributes.mig(gpu, name));
    }

    /** Returns a GPU with all possible MIG devices, if it can have any without a reset. */
    Offered possible(Gpu gpu) {
        Mig mig = gpu.mig();
        boolean both = gpu.switchesMigModeAtOnce();
        if (mig != null && !mig.enabled() && mig.modeNeedsReset()) {
            return new Offered(whole(gpu), null, List.of(needsReset(gpu)));
        }
        if (mig == null || gpu.vgpu() || (!both && !mig.enabled())) {
            return present(gpu);
        }
        List<LeftOut> leftOut = gaps.leftOut(gpu, Cost.PROFILE, Cost.PLACEMENTS);
        if (mig.profiles().isEmpty()) {
            return new Offered(both ? whole(gpu) : Map.of(), null, leftOut);
        }
        Map<String, Quantity> together = Capacities.together(mig.profiles());
        Map<String, Quantity> most = gaps.has(gpu, Cost.PROFILE) ? together : Capacities.most(mig.profiles());
        Map<Device, Offer> devices = new LinkedHashMap<>();
        if (both) {
            Device.Builder whole = described(gpu).consumes(consumption(gpu, together, all(mig)));
            devices.put(shares.applyTo(whole, most).build(), new Offer.Whole(gpu));
        }
        devices.putAll(onDemand(gpu, mig, leftOut));
        CounterSet counters = CounterSet.of(DeviceNames.counterSet(gpu), Capacities.counters(together, all(mig)));
        return new Offered(devices, counters, leftOut);
    }

    private static LeftOut needsReset(Gpu gpu) {
        return new LeftOut(
                "MIG devices of " + gpu.uuid(),
                "switching the GPU's MIG mode needs a reset: an administrator must run nvidia-smi -i %s -mig 1, and reset the GPU or reboot the node"
                        .formatted(gpu.uuid()));
    }

    /** Returns all memory slices: those of the largest instance, or of several instances together. */
    private static InstancePlacement all(Mig mig) {
        return new InstancePlacement(
                0,
                mig.profiles().stream()
                        .flatMap(profile -> profile.placements().stream())
                        .mapToInt(placement -> placement.start() + placement.size())
                        .max()
                        .orElse(0));
    }

    private Map<Device, Offer> onDemand(Gpu gpu, Mig mig, List<LeftOut> leftOut) {
        Map<Device, Offer> devices = new LinkedHashMap<>();
        for (MigProfile profile : mig.profiles()) {
            DeviceNames.profile(gpu, profile)
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
        for (InstancePlacement placement : profile.placements()) {
            devices.put(onDemand(gpu, profile, name, placement), new Offer.OnDemand(gpu, profile, placement));
        }
        return devices;
    }

    private Device onDemand(Gpu gpu, MigProfile profile, String name, InstancePlacement placement) {
        Map<String, Quantity> amounts = Capacities.of(profile);
        return shares.applyTo(
                        described(gpu, profile, name, placement).consumes(consumption(gpu, amounts, placement)),
                        amounts)
                .build();
    }

    private static CounterConsumption consumption(Gpu gpu, Map<String, Quantity> amounts, InstancePlacement placement) {
        return CounterConsumption.of(DeviceNames.counterSet(gpu), Capacities.counters(amounts, placement));
    }

    /**
     * The order of a GPU's on-demand MIG devices; the scheduler allocates the first that fits.
     *
     * <p>Small profiles come first: a claim for any of them gets only what it needs. Within a profile, placements
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

    /** The gaps of a reading, and the devices that are left out because of them. */
    record Gaps(Reading reading) {

        private Stream<NvmlProblem> of(Gpu gpu, Cost... costs) {
            return reading.problems().stream()
                    .filter(problem -> problem.gpu().equals(gpu.uuid()))
                    .filter(problem -> Arrays.asList(costs).contains(problem.cost()));
        }

        boolean has(Gpu gpu, Cost cost) {
            return of(gpu, cost).findAny().isPresent();
        }

        /** Returns parts of a GPU that are not offered, as a list that can be added to. */
        List<LeftOut> leftOut(Gpu gpu, Cost... costs) {
            return new ArrayList<>(of(gpu, costs).map(Gaps::leftOut).toList());
        }

        List<LeftOut> gpus() {
            return of(Cost.GPU).map(Gaps::leftOut).toList();
        }

        /** Returns missing attributes, and hardware for which the last reading is used. */
        List<NvmlProblem> notes() {
            return of(Cost.NONE).toList();
        }

        private Stream<NvmlProblem> of(Cost cost) {
            return reading.problems().stream().filter(problem -> problem.cost() == cost);
        }

        private static LeftOut leftOut(NvmlProblem problem) {
            return new LeftOut(problem.subject(), problem.reason());
        }

        List<LeftOut> unplaced(Gpu gpu) {
            return reading.unplaced().stream()
                    .filter(device -> device.gpu().equals(gpu.uuid()))
                    .map(device -> unplaced(gpu, device))
                    .toList();
        }

        private static LeftOut unplaced(Gpu gpu, UnplacedMigDevice device) {
            String computes = device.slices() == device.computeSlices() ? "" : device.computeSlices() + "c.";
            return new LeftOut(
                    "%s (%s%s, %d SMs, GPU instance %d of %s)"
                            .formatted(
                                    device.uuid(),
                                    computes,
                                    DeviceNames.profile(gpu, device.slices(), device.memoryMiB()),
                                    device.multiprocessors(),
                                    device.gpuInstance(),
                                    gpu.uuid()),
                    "NVML reports its placement, which is part of its name, only to root");
        }
    }

    /**
     * The capacities of devices, in the order of NVIDIA's driver. The same amounts are counters of the
     * GPU, named by DNS labels.
     */
    private static final class Capacities {

        private static final long MIB = 1L << 20;
        private static final Pattern CAPITAL = Pattern.compile("[A-Z]");

        private static final Map<String, ToLongFunction<MigProfile>> AMOUNTS = amounts();

        private Capacities() {}

        private static Map<String, ToLongFunction<MigProfile>> amounts() {
            Map<String, ToLongFunction<MigProfile>> amounts = new LinkedHashMap<>();
            amounts.put("memory", profile -> profile.memoryMiB() * MIB);
            amounts.put("multiprocessors", profile -> profile.engines().multiprocessors());
            amounts.put("copyEngines", profile -> profile.engines().copyEngines());
            amounts.put("decoders", profile -> profile.engines().decoders());
            amounts.put("encoders", profile -> profile.engines().encoders());
            amounts.put("jpegEngines", profile -> profile.engines().jpegs());
            amounts.put("ofaEngines", profile -> profile.engines().ofas());
            return amounts;
        }

        static Map<String, Quantity> of(MigProfile profile) {
            Map<String, Quantity> capacities = new LinkedHashMap<>();
            AMOUNTS.forEach((name, amount) -> capacities.put(name, quantity(name, amount.applyAsLong(profile))));
            return capacities;
        }

        private static Quantity quantity(String name, long amount) {
            return name.equals("memory") ? Quantity.ofBytes(amount) : Quantity.of(amount);
        }

        /** Returns the largest capacities of any profile, which are those of the GPU. */
        static Map<String, Quantity> most(List<MigProfile> profiles) {
            return most(profiles, profile -> 1);
        }

        /**
         * Returns, for each capacity, the largest total of all instances of one profile, which no combination of
         * profiles exceeds. Two instances of a B200 have more decoders than its largest one. It is a lower bound for the
         * capacity of a GPU whose largest profile is unknown.
         */
        static Map<String, Quantity> together(List<MigProfile> profiles) {
            return most(profiles, profile -> Math.max(1, profile.instances()));
        }

        private static Map<String, Quantity> most(List<MigProfile> profiles, ToLongFunction<MigProfile> instances) {
            Map<String, Quantity> most = new LinkedHashMap<>();
            AMOUNTS.forEach((name, amount) -> {
                long largest = profiles.stream()
                        .mapToLong(it -> amount.applyAsLong(it) * instances.applyAsLong(it))
                        .max()
                        .orElse(0);
                most.put(name, quantity(name, largest));
            });
            return most;
        }

        /** Returns the capacities of a GPU without MIG mode; none if it shares the machine's memory. */
        static Map<String, Quantity> of(Gpu gpu) {
            Long memory = gpu.memory();
            return memory == null ? Map.of() : Map.of("memory", Quantity.ofBytes(memory));
        }

        /** Returns the memory slices of an instance as capacities: {@code memorySlice3}. */
        static Map<String, Quantity> slices(InstancePlacement placement) {
            return slices("memorySlice", placement);
        }

        /** Returns capacities as counters, with those of the memory slices: {@code memory-slice-3}. */
        static Map<String, Quantity> counters(Map<String, Quantity> capacities, InstancePlacement placement) {
            Map<String, Quantity> counters = new LinkedHashMap<>();
            capacities.forEach((name, amount) -> counters.put(label(name), amount));
            counters.putAll(slices("memory-slice-", placement));
            return counters;
        }

        private static Map<String, Quantity> slices(String prefix, InstancePlacement placement) {
            Map<String, Quantity> slices = new LinkedHashMap<>();
            for (int slice = placement.start(); slice < placement.start() + placement.size(); slice++) {
                slices.put(prefix + slice, Quantity.of(1));
            }
            return slices;
        }

        private static String label(String name) {
            return CAPITAL.matcher(name).replaceAll("-$0").toLowerCase(Locale.ROOT);
        }
    }
}
