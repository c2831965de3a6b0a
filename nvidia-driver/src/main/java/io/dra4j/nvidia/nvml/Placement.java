// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A place of a GPU instance on its GPU, in memory slices.
 *
 * @param start the first slice
 * @param size how many slices
 */
public record Placement(int start, int size) {

    /** Whether two cannot be there at the same time. */
    public boolean overlaps(Placement other) {
        return start < other.start + other.size && other.start < start + size;
    }
}
