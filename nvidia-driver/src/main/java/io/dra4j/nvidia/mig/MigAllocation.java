// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Placement;
import org.jspecify.annotations.Nullable;

/**
 * A MIG device of a claim, as it is recorded.
 *
 * <p>Each step is recorded before it is done, so the hardware is at most one step ahead.
 *
 * @param device the device's name
 * @param gpu the UUID of the GPU
 * @param profileId the id of the profile
 * @param placement its memory slices
 * @param step the last step begun
 * @param uuid the UUID of the MIG device; null until it is known
 */
record MigAllocation(
        String device,
        String gpu,
        int profileId,
        Placement placement,
        Step step,
        @Nullable String uuid) {

    /** The steps in the life of a MIG device. */
    enum Step {
        /** MIG mode is being switched on; no instance exists yet. */
        DIVIDING,
        /** The GPU instance or its compute instance is being created, and may exist. */
        MAKING,
        /** The MIG device exists. */
        MADE,
        /** The MIG device is being destroyed, and may exist in part. */
        DESTROYING
    }

    MigAllocation created(MigDevice created) {
        return new MigAllocation(device, gpu, profileId, placement, Step.MADE, created.uuid());
    }

    MigAllocation destroying() {
        return new MigAllocation(device, gpu, profileId, placement, Step.DESTROYING, uuid);
    }

    /**
     * Returns whether a GPU instance belongs to this MIG device: it has the same placement and
     * profile, and no other MIG device. Numbers are no evidence, since they are reused.
     */
    boolean owns(String instanceGpu, GpuInstance instance) {
        return step != Step.DIVIDING
                && gpu.equals(instanceGpu)
                && instance.profileId() == profileId
                && instance.placement().equals(placement)
                && instance.devices().stream().allMatch(this::owns);
    }

    /** Returns whether two MIG devices exclude each other. */
    boolean overlaps(MigAllocation other) {
        return gpu.equals(other.gpu) && placement.overlaps(other.placement);
    }

    private boolean owns(MigDevice other) {
        return uuid == null ? step == Step.MAKING : other.uuid().equals(uuid);
    }
}
