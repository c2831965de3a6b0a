// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.inventory.GpuOffers.Gaps;
import io.dra4j.nvidia.inventory.GpuOffers.Offered;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.NvmlProblem;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The devices of a node, and the hardware behind them.
 *
 * @param inventory the pool of the node, and the GPUs and MIG devices that are left out
 * @param notes problems of the reading that affect no device: an attribute is missing, or the value last read is used
 * @param isPartitioned whether claims of whole GPUs get partitions of the fabric
 */
public record NodeDevices(
        Inventory inventory, Map<DeviceName, Offer> offers, List<NvmlProblem> notes, boolean isPartitioned) {

    /** The default name of the driver, and the domain of its taints. */
    public static final String DRIVER_NAME = "gpu.nvidia.com";

    /** The state before the first reading. */
    public static final NodeDevices NONE = new NodeDevices(Inventory.of(), Map.of(), List.of(), false);

    public NodeDevices {
        offers = Map.copyOf(offers);
        notes = List.copyOf(notes);
    }

    /**
     * The settings of the devices of a node.
     *
     * @param nodeName the node, which gives the pool its name
     * @param dynamicMig whether GPUs are offered with all possible MIG devices
     * @param fabric reads the fabric manager's partitions
     */
    public record Settings(
            String nodeName,
            Path sysfs,
            boolean dynamicMig,
            Shares shares,
            boolean hasLists,
            Supplier<FabricManager.Reading> fabric) {

        public Settings(String nodeName, Path sysfs, boolean dynamicMig, Shares shares, boolean hasLists) {
            this(nodeName, sysfs, dynamicMig, shares, hasLists, () -> FabricManager.Reading.NOT_NEEDED);
        }

        public Settings with(Supplier<FabricManager.Reading> partitions) {
            return new Settings(nodeName, sysfs, dynamicMig, shares, hasLists, partitions);
        }

        public Settings(String nodeName, Path sysfs, boolean dynamicMig) {
            this(nodeName, sysfs, dynamicMig, Shares.NONE, false);
        }
    }

    /** Returns the devices of a reading; equal readings have equal devices in the same order. */
    public static NodeDevices of(Reading reading, Settings settings) {
        return of(reading, settings, PassthroughGpus.NONE);
    }

    public static NodeDevices of(Reading reading, Settings settings, PassthroughGpus passthrough) {
        List<Gpu> gpus = withAway(reading.gpus(), passthrough.away());
        Set<String> present = gpus.stream().map(gpu -> gpu.pci().text()).collect(Collectors.toSet());
        PciBus bus = new PciBus(settings.sysfs());
        AttributeValue version =
                AttributeValue.lenientVersion(reading.driverVersion()).orElse(null);
        Attributes attributes =
                new Attributes(version, reading.cudaVersion(), bus, new NvlinkGroups(gpus), settings.hasLists());
        Gaps gaps = new Gaps(reading);
        GpuOffers offers = new GpuOffers(attributes, settings.shares(), gaps);
        PassthroughOffers machines = new PassthroughOffers(attributes, bus, passthrough);
        FabricManager.Reading fabric = settings.fabric().get();
        Joined joined = new Joined(gaps.gpus(), fabric);
        for (Gpu gpu : gpus) {
            if (!isDisplay(gpu)) {
                Offered containers = settings.dynamicMig() ? offers.possible(gpu) : offers.present(gpu);
                joined.add(gpu, machines.beside(gpu, containers));
            }
        }
        passthrough.functions().stream()
                .filter(function -> !present.contains(function.address().text()))
                .forEach(function -> joined.add(function.address().text(), machines.alone(function)));
        List<NvmlProblem> notes = new ArrayList<>(gaps.notes());
        if (version == null && !gpus.isEmpty()) {
            notes.add(malformed(reading.driverVersion()));
        }
        if (fabric.problem() != null) {
            notes.add(new NvmlProblem("", NvmlProblem.Cost.NONE, "the fabric manager", fabric.problem()));
        }
        return joined.named(settings.nodeName(), notes);
    }

    /** The number of a GPU that is away may be taken when it returns; until then the GPU has no name. */
    private static List<Gpu> withAway(List<Gpu> present, List<Gpu> away) {
        List<Gpu> all = new ArrayList<>(present);
        away.stream()
                .filter(gpu ->
                        present.stream().noneMatch(it -> it.pci().equals(gpu.pci()) || it.minor() == gpu.minor()))
                .forEach(all::add);
        all.sort(Comparator.comparing(Gpu::pci));
        return all;
    }

    /** Returns whether a GPU only drives a display. */
    private static boolean isDisplay(Gpu gpu) {
        String name = gpu.productName();
        return name != null && name.endsWith("DGX Display");
    }

    private static NvmlProblem malformed(String version) {
        String reason =
                "NVML returned an invalid value: \"%s\" is not a version of the NVIDIA driver, such as 550.163.01;"
                        + " the attribute driverVersion is left out";
        return new NvmlProblem("", NvmlProblem.Cost.NONE, "the node", reason.formatted(version));
    }

    /** The devices of all GPUs: two with the same name would make the whole pool invalid. */
    private static final class Joined {

        /** The maximum number of attributes and capacities of a device together, by the API. */
        private static final int MOST_TOGETHER = 32;

        /** The attributes that are dropped from a device with more than that, in this order. */
        private static final List<String> LEAST_USED = List.of("nvlinkClique", "nvlinkGroup", "addressingMode");

        private final List<Device> devices = new ArrayList<>();
        private final List<CounterSet> counters = new ArrayList<>();
        private final Map<DeviceName, Offer> offers = new HashMap<>();
        private final Map<Integer, Gpu> byMinor = new HashMap<>();
        private final List<LeftOut> leftOut;
        private final FabricManager.Reading fabric;

        Joined(List<LeftOut> gpus, FabricManager.Reading fabric) {
            leftOut = new ArrayList<>(gpus);
            this.fabric = fabric;
        }

        void add(Gpu gpu, Offered offered) {
            Gpu other = byMinor.putIfAbsent(gpu.minor(), gpu);
            if (other != null) {
                String reason = "it has the same minor number as %s, %d";
                leftOut.add(new LeftOut(gpu.uuid(), reason.formatted(other.uuid(), gpu.minor())));
                return;
            }
            add(gpu.uuid(), offered);
        }

        void add(String gpu, Offered offered) {
            leftOut.addAll(offered.leftOut());
            offered.devices().forEach((device, offer) -> add(gpu, device, offer));
            if (offered.counters() != null) {
                counters.add(offered.counters());
            }
        }

        private void add(String gpu, Device device, Offer offer) {
            if (offers.putIfAbsent(device.name(), offer) == null) {
                devices.add(fitting(fabric.isNeeded() && offer.isWhole() ? inFabric(device, offer) : device));
            } else {
                leftOut.add(new LeftOut(
                        "a second %s of %s".formatted(device.name(), gpu),
                        "it has the profile and placement of another MIG device"));
            }
        }

        private static Device fitting(Device device) {
            Map<String, AttributeValue> attributes = new LinkedHashMap<>(device.attributes());
            for (String least : LEAST_USED) {
                if (attributes.size() + device.capacities().size() > MOST_TOGETHER) {
                    attributes.remove(least);
                }
            }
            return device.toBuilder().attributes(attributes).build();
        }

        private Device inFabric(Device device, Offer offer) {
            Gpu gpu = offer.gpu();
            Device.Builder described = device.toBuilder();
            if (gpu != null && gpu.moduleId() != null) {
                described.attribute("gpuModuleID", gpu.moduleId());
            }
            fabric.partitions().attributes(offer.pci(), gpu).forEach(described::attribute);
            if (fabric.problem() != null) {
                described.taint(Taint.of(DRIVER_NAME + "/fabric-manager", "unavailable", Effect.NO_SCHEDULE));
            }
            return described.build();
        }

        NodeDevices named(String nodeName, List<NvmlProblem> notes) {
            Pool pool = Pool.ofNode(nodeName, devices).withCounterSets(counters);
            return new NodeDevices(Inventory.of(pool).withLeftOut(leftOut), offers, notes, fabric.isNeeded());
        }
    }

    public Optional<Offer> offer(DeviceName name) {
        return Optional.ofNullable(offers.get(name));
    }

    /**
     * GPUs for virtual machines, in addition to the same GPUs for containers: both consume all counters of the GPU, so
     * that the scheduler never allocates both.
     */
    private record PassthroughOffers(Attributes attributes, PciBus bus, PassthroughGpus gpus) {

        private static final String WHOLE = "gpu"; // the counter of a GPU without other counters

        /** Adds the device of a virtual machine to those of a GPU that can be used as a whole. */
        Offered beside(Gpu gpu, Offered containers) {
            Optional<PciFunction> function = gpus.functions().stream()
                    .filter(one -> one.address().equals(gpu.pci()))
                    .findFirst();
            boolean isWhole = containers.devices().values().stream().anyMatch(Offer.Whole.class::isInstance);
            if (function.isEmpty() || !isWhole) {
                return containers;
            }
            List<LeftOut> shared = sharesGroup(function.get());
            if (!shared.isEmpty()) {
                List<LeftOut> leftOut = new ArrayList<>(containers.leftOut());
                leftOut.addAll(shared);
                return new Offered(containers.devices(), containers.counters(), leftOut);
            }
            CounterSet known = containers.counters();
            CounterSet counters =
                    known == null ? CounterSet.of(DeviceNames.counterSet(gpu), Map.of(WHOLE, Quantity.of(1))) : known;
            CounterConsumption all = CounterConsumption.of(counters.name(), counters.counters());
            Map<Device, Offer> devices = new LinkedHashMap<>();
            containers.devices().forEach((device, offer) -> devices.put(counted(device, all), offer));
            devices.put(device(function.get(), gpu).consumes(all).build(), new Offer.Passthrough(function.get(), gpu));
            return new Offered(devices, counters, containers.leftOut());
        }

        private static Device counted(Device device, CounterConsumption all) {
            return device.consumesCounters().isEmpty()
                    ? device.toBuilder().consumes(all).build()
                    : device;
        }

        private Device.Builder device(PciFunction function, @Nullable Gpu gpu) {
            Device.Builder device = Device.builder(
                            DeviceNames.vfio(gpus.functions().indexOf(function)))
                    .physicalId(function.address() + "/vfio")
                    .attributes(attributes.vfio(function, gpu));
            bus.addressableMemory(function.address())
                    .map(bytes -> new Capacity(Quantity.ofBytes(bytes), null))
                    .ifPresent(memory -> device.capacity("addressableMemory", memory));
            return device;
        }

        /** Returns the device of a GPU that NVML does not report, if an administrator has bound it to vfio-pci. */
        Offered alone(PciFunction function) {
            if (function.isForMachines()) {
                List<LeftOut> shared = sharesGroup(function);
                if (!shared.isEmpty()) {
                    return new Offered(Map.of(), null, shared);
                }
                return Offered.of(Map.of(device(function, null).build(), new Offer.Passthrough(function, null)));
            }
            return new Offered(Map.of(), null, List.of(leftOut(function)));
        }

        /** The kernel assigns a group as a whole: a machine with one GPU could reach the others. */
        private List<LeftOut> sharesGroup(PciFunction gpu) {
            String group = gpu.group();
            String others = gpus.functions().stream()
                    .filter(other -> group != null && group.equals(other.group()))
                    .map(other -> other.address().text())
                    .filter(other -> !other.equals(gpu.address().text()))
                    .collect(Collectors.joining(", "));
            return others.isEmpty()
                    ? List.of()
                    : List.of(new LeftOut(
                            gpu.address().text(),
                            "no virtual machine can use it: its IOMMU group %s has other GPUs, %s; move it to another slot, or enable ACS in the firmware"
                                    .formatted(group, others)));
        }

        private static LeftOut leftOut(PciFunction function) {
            String address = function.address().text();
            String driver = function.driver();
            if (driver == null) {
                return new LeftOut(
                        address,
                        "no driver is bound to it: an administrator must write %s to /sys/bus/pci/drivers_probe"
                                .formatted(address));
            }
            return new LeftOut(
                    address,
                    driver.equals(PassthroughGpus.NVIDIA)
                            ? "it is bound to nvidia, but NVML does not report it"
                            : "it is bound to %s, not to nvidia or vfio-pci".formatted(driver));
        }
    }
}
