// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks, before anything changes, that a GPU can be assigned to a virtual machine.
 *
 * @param proc the mount point of procfs, with the processes of the node
 */
public record PassthroughChecks(PciBus bus, Path proc) {

    /** Finds a GPU that can be assigned to a virtual machine. */
    PciFunction requireUsable(PciAddress address) {
        PciFunction gpu = bus.find(address).orElseThrow(() -> refused(address, "it is no longer on the PCI bus"));
        if (gpu.group() == null) {
            throw refused(
                    address,
                    "the IOMMU is off: an administrator must enable it in the firmware (VT-d, AMD-Vi, SMMU) and, on Intel, start the kernel with intel_iommu=on");
        }
        String needed = driverFor(address);
        if (!gpu.isForMachines() && !bus.isLoaded(needed)) {
            throw refused(
                    address,
                    "the kernel module %1$s is not loaded: an administrator must run modprobe %1$s, and add it to /etc/modules-load.d"
                            .formatted(needed));
        }
        String driver = gpu.driver();
        if (isInUse(gpu) && !gpu.isBoundTo(PassthroughGpus.NVIDIA)) {
            throw refused(address, "it is bound to %s, not to nvidia or vfio-pci".formatted(driver));
        }
        long functions = bus.virtualFunctions(address);
        if (functions > 0) {
            throw refused(
                    address,
                    "it has %d virtual functions: an administrator must write 0 to /sys/bus/pci/devices/%s/sriov_numvfs"
                            .formatted(functions, address));
        }
        requireGroup(gpu);
        return gpu;
    }

    /** Returns the driver to which a device is bound for a virtual machine. */
    String driverFor(PciAddress device) {
        return new VfioModules(bus, proc).driver(device);
    }

    /** Returns the kernel modules that are needed for some GPUs, by whether they are loaded. */
    public Map<Boolean, List<String>> modulesOf(List<PciFunction> gpus) {
        return gpus.stream()
                .map(gpu -> driverFor(gpu.address()))
                .distinct()
                .collect(Collectors.partitioningBy(bus::isLoaded));
    }

    /**
     * Returns the devices of a GPU's IOMMU group that keep it from virtual machines.
     *
     * <p>These are other GPUs, and devices in use except those of its board: any process with the group's device node
     * can reach every GPU of the group that is bound to vfio-pci.
     */
    public List<PciFunction> conflicting(PciFunction gpu) {
        return members(gpu).stream()
                .filter(other -> other.isGpu() || (isInUse(other) && !isOfBoard(other, gpu)))
                .toList();
    }

    public static String named(List<PciFunction> devices) {
        return devices.stream()
                .map(one -> one.address() + (one.driver() == null ? "" : " (" + one.driver() + ")"))
                .collect(Collectors.joining(", "));
    }

    private void requireGroup(PciFunction gpu) {
        List<PciFunction> conflicting = conflicting(gpu);
        String gpus = named(conflicting.stream().filter(PciFunction::isGpu).toList());
        if (!gpus.isEmpty()) {
            throw refused(
                    gpu.address(),
                    "its IOMMU group %s has other GPUs, and a virtual machine with one of them could reach all: %s; an administrator must move the GPU to another slot, or enable ACS in the firmware, which makes smaller groups"
                            .formatted(gpu.group(), gpus));
        }
        String others = named(conflicting);
        if (!others.isEmpty()) {
            throw refused(
                    gpu.address(),
                    "its IOMMU group %s has other devices, whose drivers would lose them: %s; an administrator must bind them to vfio-pci, or move the GPU to another slot"
                            .formatted(gpu.group(), others));
        }
    }

    /** Returns the other devices of the group, without bridges. */
    private List<PciFunction> members(PciFunction gpu) {
        return gpu.group() == null
                ? List.of()
                : bus.group(gpu.group()).stream()
                        .filter(other -> !other.address().equals(gpu.address()))
                        .filter(other -> !other.isBridge())
                        .toList();
    }

    /** While other drivers are bound, the kernel lets no program use the IOMMU group. */
    private static boolean isInUse(PciFunction device) {
        return device.driver() != null && !device.isForMachines() && !device.isBoundTo("pci-stub");
    }

    private static boolean isOfBoard(PciFunction other, PciFunction gpu) {
        return other.isBeside(gpu) && other.vendor() == PciFunction.NVIDIA && !other.isGpu();
    }

    /** Returns the functions that move together: audio and USB of the GPU's board, if in use, and the GPU. */
    List<PciFunction> withBoard(PciFunction gpu) {
        List<PciFunction> all = new ArrayList<>(members(gpu).stream()
                .filter(one -> isInUse(one) && isOfBoard(one, gpu))
                .toList());
        all.add(gpu);
        return all;
    }

    static PrepareException refused(PciAddress gpu, String why) {
        return new PrepareException("GPU %s can't be passed to a virtual machine: %s".formatted(gpu, why));
    }

    /**
     * The kernel modules that give programs exclusive access to PCI devices: vfio-pci, and for some devices a variant
     * that does more, for example for the memory of GPUs on Grace boards.
     *
     * @param proc the mount point of procfs, which shows the node's files as its first process sees them
     * @see <a href="https://docs.kernel.org/driver-api/vfio.html">VFIO, PCI variant drivers</a>
     */
    private record VfioModules(PciBus bus, Path proc) {

        private static final Pattern ALIAS = Pattern.compile("alias vfio_pci:(\\S+) (\\S+)");

        /**
         * Returns the driver to which a device has to be bound, as sysfs names it, or its module if that is not loaded.
         * Module names have underscores where driver names may have hyphens.
         */
        String driver(PciAddress device) {
            String module =
                    module(device).filter(name -> !name.equals("vfio_pci")).orElse(PassthroughGpus.VFIO);
            String hyphened = module.replace('_', '-');
            return bus.isLoaded(hyphened) ? hyphened : module;
        }

        /** Returns the module whose alias fits with the fewest wildcards. */
        private Optional<String> module(PciAddress device) {
            String wanted = PciBus.text(bus.folder(device).resolve("modalias")).orElse("");
            return aliases().stream()
                    .filter(alias -> fits("pci:" + alias.group(1), wanted))
                    .min(Comparator.comparingLong(alias ->
                            alias.group(1).chars().filter(one -> one == '*').count()))
                    .map(alias -> alias.group(2));
        }

        private static boolean fits(String pattern, String device) {
            return FileSystems.getDefault().getPathMatcher("glob:" + pattern).matches(Path.of(device));
        }

        private List<Matcher> aliases() {
            String release = PciBus.text(proc.resolve("sys/kernel/osrelease")).orElse("");
            try (Stream<String> lines = Files.lines(proc.resolve("1/root/lib/modules/" + release + "/modules.alias"))) {
                return lines.map(ALIAS::matcher).filter(Matcher::matches).toList();
            } catch (IOException | UncheckedIOException e) {
                return List.of(); // vfio-pci is for all devices
            }
        }
    }
}
