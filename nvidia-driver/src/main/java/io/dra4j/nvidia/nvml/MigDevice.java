// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A MIG device: a GPU instance and the compute instance in it.
 *
 * <p>Its numbers and UUID derive from GPU, profile and placement, so a recreated device has the same ones.
 *
 * @param uuid {@code MIG-…}
 * @param profileId the hardware's number of the GPU instance's profile
 */
public record MigDevice(String uuid, int gpuInstance, int computeInstance, int profileId, InstancePlacement placement) {

    boolean hasPlaceOf(MigDevice other) {
        return placement.overlaps(other.placement);
    }
}
