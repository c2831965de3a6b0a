// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A MIG device as a process without privileges sees it: without its placement, which its name needs.
 *
 * @param gpu the UUID of its GPU
 * @param slices the compute slices of its GPU instance
 * @param computeSlices those of its compute instance
 */
public record UnplacedMigDevice(
        String gpu,
        String uuid,
        int gpuInstance,
        int computeInstance,
        int slices,
        int computeSlices,
        long memoryMiB,
        int multiprocessors) {}
