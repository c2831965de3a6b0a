// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A kind of GPU instance that a board supports.
 *
 * @param index NVML's index, which distinguishes variants
 * @param id the hardware's id, by which instances are created
 * @param instances the maximum number of instances at a time
 * @param memoryMiB its memory; 0 on boards that share the machine's memory
 * @param placements the possible placements, in NVML's order
 * @param name the name that NVML has for it, {@code 1g.24gb+me}; null with a driver that has none
 */
public record MigProfile(
        int index,
        int id,
        int slices,
        int instances,
        Engines engines,
        long memoryMiB,
        List<InstancePlacement> placements,
        @Nullable String name) {

    public MigProfile {
        placements = List.copyOf(placements);
    }

    MigProfile at(List<InstancePlacement> other) {
        return new MigProfile(index, id, slices, instances, engines, memoryMiB, other, name);
    }

    /** The numbers of the engines of an instance: streaming multiprocessors, and those for copies, video and images. */
    public record Engines(int multiprocessors, int copyEngines, int decoders, int encoders, int jpegs, int ofas) {}
}
