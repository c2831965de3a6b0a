// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * GPUs for virtual machines, beside the same GPUs for containers: both take all counters of the
 * GPU, so that the scheduler never allocates both.
 */
final class PassthroughOffers {

    private static final String WHOLE = "gpu"; // the counter of a GPU that has no other

    private final Attributes attributes;
    private final PciBus bus;
    private final PassthroughGpus gpus;

    PassthroughOffers(Attributes attributes, PciBus bus, PassthroughGpus gpus) {
        this.attributes = attributes;
        this.bus = bus;
        this.gpus = gpus;
    }

    /** Adds the device of a virtual machine to those of a GPU that can be used as a whole. */
    Offered beside(Gpu gpu, Offered containers) {
        Optional<PciFunction> function = gpus.functions().stream()
                .filter(one -> one.address().equals(gpu.pci()))
                .findFirst();
        boolean isWhole = containers.devices().containsValue(new Offer.Whole(gpu));
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
        Device.Builder device = Device.builder(DeviceNames.vfio(gpus.functions().indexOf(function)))
                .physicalId(function.address() + "/vfio")
                .attributes(attributes.vfio(function, gpu));
        bus.addressableMemory(function.address())
                .map(bytes -> new Capacity(Quantity.ofBytes(bytes), null))
                .ifPresent(memory -> device.capacity("addressableMemory", memory));
        return device;
    }

    /** Returns the device of a GPU that NVML does not report, if an administrator has lent it. */
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

    /** The kernel lends a group as a whole: a machine with one GPU could reach the others. */
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
                        "no virtual machine can have it: its IOMMU group %s has other GPUs, %s; plug it in elsewhere, or switch ACS on in the firmware"
                                .formatted(group, others)));
    }

    private static LeftOut leftOut(PciFunction function) {
        String address = function.address().text();
        String driver = function.driver();
        if (driver == null) {
            return new LeftOut(
                    address,
                    "no driver is bound to it: the administrator writes %s to /sys/bus/pci/drivers_probe"
                            .formatted(address));
        }
        return new LeftOut(
                address,
                driver.equals(PassthroughGpus.NVIDIA)
                        ? "it is bound to nvidia, and NVML does not report it"
                        : "it is bound to %s, and not to nvidia or vfio-pci".formatted(driver));
    }
}
