// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * The memory slices of a GPU instance on its GPU.
 *
 * @param start the first slice
 * @param size the number of slices
 */
public record InstancePlacement(int start, int size) {

    /** Returns whether two instances exclude each other. */
    public boolean overlaps(InstancePlacement other) {
        return start < other.start + other.size && other.start < start + size;
    }
}
