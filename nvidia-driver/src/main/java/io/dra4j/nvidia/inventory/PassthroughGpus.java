// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciFunction;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The GPUs of the PCI bus that virtual machines can have.
 *
 * @param functions all GPUs in the order of their addresses
 * @param lent the addresses of GPUs that claims have taken from NVIDIA's driver
 * @param away those GPUs as NVML last reported them
 */
public record PassthroughGpus(List<PciFunction> functions, Set<PciAddress> lent, List<Gpu> away) {

    /** No GPU is for virtual machines. */
    public static final PassthroughGpus NONE = new PassthroughGpus(List.of(), Set.of(), List.of());

    /** The kernel's driver of devices that programs have for themselves. */
    public static final String VFIO = "vfio-pci";

    /** NVIDIA's driver in the kernel. */
    public static final String NVIDIA = "nvidia";

    /** Copies the collections. */
    public PassthroughGpus {
        functions = List.copyOf(functions);
        lent = Set.copyOf(lent);
        away = List.copyOf(away);
    }

    /**
     * Finds out which GPUs NVML does not report because claims have them.
     *
     * @param lent the addresses of GPUs that claims have taken from NVIDIA's driver
     * @param known the GPUs as NVML reported them at any time, the latest first
     */
    public static PassthroughGpus of(
            List<PciFunction> functions, Set<PciAddress> lent, Collection<Gpu> known) {
        Map<PciAddress, Gpu> away = new LinkedHashMap<>();
        for (PciFunction function : functions) {
            if (lent.contains(function.address()) && !function.isBoundTo(NVIDIA)) {
                known.stream()
                        .filter(gpu -> gpu.pci().equals(function.address()))
                        .findFirst()
                        .ifPresent(gpu -> away.put(gpu.pci(), gpu));
            }
        }
        return new PassthroughGpus(functions, lent, List.copyOf(away.values()));
    }

    /** Returns whether NVIDIA's driver has none of them, so that NVML may not even work. */
    public boolean areAllWithoutNvml() {
        return !functions.isEmpty()
                && lent.isEmpty()
                && functions.stream().noneMatch(one -> one.isBoundTo(NVIDIA));
    }
}
