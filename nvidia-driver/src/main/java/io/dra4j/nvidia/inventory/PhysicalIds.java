// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;

/**
 * The hardware behind names, which are made of minor numbers: these may move with a reboot.
 *
 * <p>A GPU has its UUID. A MIG device has its GPU's with its profile and place: one that is created
 * again in the same place is the same hardware.
 */
final class PhysicalIds {

    private PhysicalIds() {}

    /** Returns {@code GPU-…/mig-19-3}: the GPU, the profile's id, and the first memory slice. */
    static String mig(Gpu gpu, MigProfile profile, Placement placement) {
        return "%s/mig-%d-%d".formatted(gpu.uuid(), profile.id(), placement.start());
    }
}
