// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** The memory slices of a GPU instance on its GPU. */
public record InstancePlacement(int start, int size) {

    public boolean overlaps(InstancePlacement other) {
        return start < other.start + other.size && other.start < start + size;
    }
}
