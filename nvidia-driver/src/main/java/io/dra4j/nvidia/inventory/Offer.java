// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;

/** What a device's name stands for. */
public sealed interface Offer {

    /** The GPU that it is, or is a part of. */
    Gpu gpu();

    /**
     * A GPU as a whole.
     *
     * @param gpu the GPU
     */
    record Whole(Gpu gpu) implements Offer {}

    /**
     * A MIG device that the administrator has made.
     *
     * @param gpu the GPU that it is a part of
     * @param device the device
     */
    record Made(Gpu gpu, MigDevice device) implements Offer {}

    /**
     * A part of a GPU that is made when a claim is prepared.
     *
     * @param gpu the GPU that it will be a part of
     * @param profile what it will have
     * @param placement where it will be
     */
    record ToBeMade(Gpu gpu, MigProfile profile, Placement placement) implements Offer {}
}
