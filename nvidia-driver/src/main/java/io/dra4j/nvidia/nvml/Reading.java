// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of a node as NVML reported it at one time.
 *
 * @param driverVersion the driver's version in its own form, {@code 550.163.01}
 * @param cudaVersion the newest version of CUDA that the driver supports, {@code 12.4}; null if it is unknown
 * @param gpus the GPUs in the order of their PCI addresses; an unreadable one as last read
 * @param lost the UUIDs of GPUs that have fallen off the bus
 * @param unread the UUIDs of GPUs that can't be read for another reason
 * @param unplaced MIG devices without their placements
 */
public record Reading(
        String driverVersion,
        @Nullable String cudaVersion,
        List<Gpu> gpus,
        Set<String> lost,
        Set<String> unread,
        List<UnplacedMigDevice> unplaced,
        List<NvmlProblem> problems) {

    /** The state before the first reading. */
    public static final Reading NOTHING = new Reading("", null, List.of(), Set.of(), Set.of(), List.of(), List.of());

    public Reading {
        gpus = List.copyOf(gpus);
        lost = Set.copyOf(lost);
        unread = Set.copyOf(unread);
        unplaced = List.copyOf(unplaced);
        problems = List.copyOf(problems);
    }

    public List<Gpu> present() {
        return gpus.stream().filter(gpu -> !lost.contains(gpu.uuid())).toList();
    }
}
