// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The conditions under which a virtual machine can have a GPU, checked before anything changes.
 *
 * @param bus the PCI bus
 */
public record PassthroughChecks(PciBus bus) {

    /** Drivers beside which the kernel lets a program use an IOMMU group. */
    private static final Set<String> HARMLESS = Set.of(PassthroughGpus.VFIO, "pci-stub");

    /**
     * Finds a GPU that a virtual machine can have.
     *
     * @throws PrepareException if it can't
     */
    PciFunction requireUsable(PciAddress address) {
        PciFunction gpu =
                bus.find(address)
                        .orElseThrow(() -> refused(address, "it is not on the PCI bus any more"));
        if (gpu.group() == null) {
            throw refused(
                    address,
                    "the IOMMU is off: the administrator enables it in the firmware (VT-d, AMD-Vi), and starts the kernel with intel_iommu=on where it is Intel's");
        }
        if (!hasModule()) {
            throw refused(
                    address,
                    "the kernel module vfio-pci is not loaded: the administrator runs modprobe vfio-pci, and adds it to /etc/modules-load.d");
        }
        String driver = gpu.driver();
        if (driver != null
                && !HARMLESS.contains(driver)
                && !driver.equals(PassthroughGpus.NVIDIA)) {
            throw refused(
                    address, "it is bound to %s, not to nvidia or vfio-pci".formatted(driver));
        }
        long functions = bus.virtualFunctions(address);
        if (functions > 0) {
            throw refused(
                    address,
                    "it has %d virtual functions: the administrator writes 0 to /sys/bus/pci/devices/%s/sriov_numvfs"
                            .formatted(functions, address));
        }
        requireGroup(gpu);
        return gpu;
    }

    /** Returns whether the kernel module is loaded to which GPUs are bound. */
    public boolean hasModule() {
        return Files.isDirectory(bus.driver(PassthroughGpus.VFIO));
    }

    /** Returns the devices of a GPU's IOMMU group that are in use, and are not of its board. */
    public List<PciFunction> strangers(PciFunction gpu) {
        return gpu.group() == null
                ? List.of()
                : others(gpu).stream().filter(other -> !isOfBoard(other, gpu)).toList();
    }

    private void requireGroup(PciFunction gpu) {
        String others =
                strangers(gpu).stream()
                        .map(other -> other.address() + " (" + other.driver() + ")")
                        .collect(Collectors.joining(", "));
        if (!others.isEmpty()) {
            throw refused(
                    gpu.address(),
                    "its IOMMU group %s has other devices, whose drivers would lose them: %s; the administrator binds them to vfio-pci, or plugs the GPU in elsewhere"
                            .formatted(gpu.group(), others));
        }
    }

    /** Returns the devices of the group that are in use by the node; bridges stay out of it. */
    private List<PciFunction> others(PciFunction gpu) {
        return bus.group(String.valueOf(gpu.group())).stream()
                .filter(other -> !other.address().equals(gpu.address()))
                .filter(other -> !other.isBridge())
                .filter(other -> other.driver() != null && !HARMLESS.contains(other.driver()))
                .toList();
    }

    private static boolean isOfBoard(PciFunction other, PciFunction gpu) {
        return other.isBeside(gpu) && other.vendor() == PciFunction.NVIDIA && !other.isGpu();
    }

    /** Returns what goes with a GPU: audio and USB of its board, if they are in use, and itself. */
    List<PciFunction> withBoard(PciFunction gpu) {
        List<PciFunction> all =
                new ArrayList<>(others(gpu).stream().filter(one -> isOfBoard(one, gpu)).toList());
        all.add(gpu);
        return all;
    }

    static PrepareException refused(PciAddress gpu, String why) {
        return new PrepareException(
                "GPU %s can't be passed to a virtual machine: %s".formatted(gpu, why));
    }
}
