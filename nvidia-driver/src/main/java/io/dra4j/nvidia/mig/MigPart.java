// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.Placement;
import org.jspecify.annotations.Nullable;

/**
 * A part of a GPU that a claim has, or may have, as it is recorded.
 *
 * <p>What is about to be done is recorded before it is done, so the hardware is at most one step
 * ahead of the record.
 *
 * @param device the device's name
 * @param gpu the UUID of the GPU
 * @param profileId the hardware's number of the profile
 * @param placement where it is
 * @param step how far it has come
 * @param uuid the UUID of the MIG device; null until it is known
 */
record MigPart(
        String device,
        String gpu,
        int profileId,
        Placement placement,
        Step step,
        @Nullable String uuid) {

    /** How far a part has come. */
    enum Step {
        /** The GPU's MIG mode is being switched on; no instance is there yet. */
        DIVIDING,
        /** The GPU instance is being made, or its compute instance: some of it may be there. */
        MAKING,
        /** It is there. */
        MADE,
        /** It is being destroyed: some of it may be gone. */
        DESTROYING
    }

    MigPart made(MigDevice made) {
        return new MigPart(device, gpu, profileId, placement, Step.MADE, made.uuid());
    }

    MigPart destroying() {
        return new MigPart(device, gpu, profileId, placement, Step.DESTROYING, uuid);
    }

    /**
     * Whether a GPU instance is this part's: it is where this one is, of the same profile, and
     * holds nothing but what may be this part's. The numbers prove nothing, since they are used
     * again.
     */
    boolean owns(String itsGpu, GpuInstance instance) {
        return step != Step.DIVIDING
                && gpu.equals(itsGpu)
                && instance.profileId() == profileId
                && instance.placement().equals(placement)
                && instance.devices().stream().allMatch(this::owns);
    }

    /** Whether it and another part cannot be there at the same time. */
    boolean overlaps(MigPart other) {
        return gpu.equals(other.gpu) && placement.overlaps(other.placement);
    }

    private boolean owns(MigDevice other) {
        return uuid == null ? step == Step.MAKING : other.uuid().equals(uuid);
    }
}
