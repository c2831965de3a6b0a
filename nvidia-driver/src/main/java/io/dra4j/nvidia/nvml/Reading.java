// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Set;

/**
 * What NVML said of a node at one time.
 *
 * @param driverVersion the driver's version as it writes it, {@code 550.163.01}
 * @param cudaVersion the newest version of CUDA that the driver knows, {@code 12.4}
 * @param gpus the GPUs in the order of their PCI addresses; one that can't be read as it was last
 *     known
 * @param lost the UUIDs of those that have fallen off the bus
 * @param unread the UUIDs of those that can't be read for another reason
 * @param troubles what could not be read and is left out, a sentence each
 */
public record Reading(
        String driverVersion,
        String cudaVersion,
        List<Gpu> gpus,
        Set<String> lost,
        Set<String> unread,
        List<String> troubles) {

    /** Before anything was read. */
    public static final Reading NOTHING =
            new Reading("", "", List.of(), Set.of(), Set.of(), List.of());

    /** Copies what it is given. */
    public Reading {
        gpus = List.copyOf(gpus);
        lost = Set.copyOf(lost);
        unread = Set.copyOf(unread);
        troubles = List.copyOf(troubles);
    }

    /** The GPUs that are not lost. */
    public List<Gpu> present() {
        return gpus.stream().filter(gpu -> !lost.contains(gpu.uuid())).toList();
    }
}
