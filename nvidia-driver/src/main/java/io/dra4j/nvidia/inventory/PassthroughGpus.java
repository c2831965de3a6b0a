// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.pci.PciFunction;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The GPUs of the PCI bus that can be assigned to virtual machines.
 *
 * @param functions all GPUs in the order of their addresses
 * @param lent the addresses of GPUs that claims have taken from NVIDIA's driver
 * @param away the lent GPUs that the last reading lacks, as NVML reported them before
 */
public record PassthroughGpus(List<PciFunction> functions, Set<PciAddress> lent, List<Gpu> away) {

    public static final PassthroughGpus NONE = new PassthroughGpus(List.of(), Set.of(), List.of());

    /** The kernel driver for devices that programs use directly. */
    public static final String VFIO = "vfio-pci";

    public static final String NVIDIA = "nvidia";

    public PassthroughGpus {
        functions = List.copyOf(functions);
        lent = Set.copyOf(lent);
        away = List.copyOf(away);
    }

    /** Reads the GPUs of the bus, before NVML is read. */
    public static PassthroughGpus of(List<PciFunction> functions, Set<PciAddress> lent) {
        return new PassthroughGpus(functions, lent, List.of());
    }

    /**
     * Finds out which GPUs a reading lacks because claims had taken them. A reading waits while a GPU is taken, so the
     * driver that the bus showed before the reading may have changed.
     *
     * @param lentSince the addresses of GPUs that claims have after the reading
     * @param known the GPUs as NVML has reported them so far, the latest first
     */
    public PassthroughGpus after(List<Gpu> present, Set<PciAddress> lentSince, Collection<Gpu> known) {
        Set<PciAddress> taken = new HashSet<>(lent);
        taken.addAll(lentSince);
        Map<PciAddress, Gpu> missing = new LinkedHashMap<>();
        for (PciFunction function : functions) {
            if (taken.contains(function.address()) && !has(present, function)) {
                known.stream()
                        .filter(gpu -> gpu.pci().equals(function.address()))
                        .findFirst()
                        .ifPresent(gpu -> missing.put(gpu.pci(), gpu));
            }
        }
        return new PassthroughGpus(functions, taken, List.copyOf(missing.values()));
    }

    private static boolean has(List<Gpu> gpus, PciFunction function) {
        return gpus.stream().anyMatch(gpu -> gpu.pci().equals(function.address()));
    }

    /** Returns whether only virtual machines can have GPUs, so that NVIDIA's driver is not needed. */
    public boolean areAllBound() {
        return !functions.isEmpty() && functions.stream().allMatch(PciFunction::isForMachines);
    }

    /**
     * Reads the GPUs of NVIDIA's driver, which need not be loaded if virtual machines have all GPUs.
     *
     * @return what NVML reports; nothing if it is missing and not needed
     * @throws NvmlException if NVML can't be read for another reason: unknown does not mean none
     */
    public Reading readOthers(Supplier<Reading> nvml) {
        try {
            return nvml.get();
        } catch (NvmlException e) {
            if (!areAllWithoutNvml() || e.reason() != Reason.NO_DRIVER) {
                throw e;
            }
            return Reading.NOTHING;
        }
    }

    private boolean areAllWithoutNvml() {
        return !functions.isEmpty() && lent.isEmpty() && functions.stream().noneMatch(one -> one.isBoundTo(NVIDIA));
    }
}
