// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;

/** The hardware behind a device's name. */
public sealed interface Offer {

    /** Returns the GPU, or the parent GPU of a MIG device. */
    Gpu gpu();

    /**
     * A whole GPU.
     *
     * @param gpu the GPU
     */
    record Whole(Gpu gpu) implements Offer {}

    /**
     * A MIG device that the administrator has created.
     *
     * @param gpu the parent GPU
     * @param device the MIG device
     */
    record Existing(Gpu gpu, MigDevice device) implements Offer {}

    /**
     * A MIG device that is created when a claim is prepared.
     *
     * @param gpu the parent GPU
     * @param profile the profile
     * @param placement the memory slices
     */
    record OnDemand(Gpu gpu, MigProfile profile, Placement placement) implements Offer {}
}
