// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.MigDevice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The record of a claim's MIG device.
 *
 * <p>Each step is recorded before it is done, so the record and the hardware differ by at most one step.
 *
 * @param step the last step begun
 * @param uuid the UUID of the MIG device; null until it is known
 * @param origin where the GPU instance comes from; null until it exists
 */
record MigAllocation(
        String device,
        String gpu,
        int profileId,
        InstancePlacement placement,
        Step step,
        @Nullable String uuid,
        @Nullable Origin origin) {

    /** The steps in the life of a MIG device. */
    enum Step {
        /** MIG mode is being switched on; no instance exists yet. */
        DIVIDING,
        /** The GPU instance or its compute instance is being created, and may exist. */
        MAKING,
        /** The MIG device exists. */
        MADE,
        /** The MIG device is being destroyed, and may partly exist. */
        DESTROYING
    }

    MigAllocation created(MigDevice created, Origin from) {
        return new MigAllocation(device, gpu, profileId, placement, Step.MADE, created.uuid(), from);
    }

    /** Returns this with the origin of a GPU instance that has no compute instance yet. */
    MigAllocation begun(Origin from) {
        return new MigAllocation(device, gpu, profileId, placement, step, uuid, from);
    }

    MigAllocation at(Step other) {
        return new MigAllocation(device, gpu, profileId, placement, other, uuid, origin);
    }

    boolean isAt(String instanceGpu, GpuInstance instance) {
        return step != Step.DIVIDING
                && gpu.equals(instanceGpu)
                && instance.profileId() == profileId
                && instance.placement().equals(placement);
    }

    /** Returns whether a GPU instance in that place has no MIG device other than this one. */
    boolean matches(GpuInstance instance) {
        return instance.devices().stream().allMatch(this::matches);
    }

    private boolean matches(MigDevice other) {
        return uuid == null ? step == Step.MAKING : other.uuid().equals(uuid);
    }

    /** Returns the record of another claim that has this very MIG device, or null. */
    @Nullable
    MigAllocation sharedBy(List<MigAllocation> others) {
        return others.stream()
                .filter(other -> other.step == Step.MADE && isSamePlace(other))
                .findFirst()
                .orElse(null);
    }

    boolean isSharedBy(List<MigAllocation> others) {
        return uuid != null && others.stream().anyMatch(it -> uuid.equals(it.uuid) && isSamePlace(it));
    }

    private boolean isSamePlace(MigAllocation other) {
        return device.equals(other.device)
                && gpu.equals(other.gpu)
                && profileId == other.profileId
                && placement.equals(other.placement);
    }

    boolean overlaps(MigAllocation other) {
        return gpu.equals(other.gpu) && placement.overlaps(other.placement);
    }

    /**
     * The recorded origin of a GPU instance. It distinguishes the instance from one that others create in its place;
     * number and UUID do not, since both derive from GPU, profile and placement.
     *
     * @param moduleLoad the load of the kernel module, with which the instance ends; empty if unknown
     * @param process the driver's process that created it
     * @param serial its place in that process's order of creation
     */
    record Origin(String moduleLoad, String process, long serial) {

        /** The serial of an instance that may not have been created; never used by an instance. */
        static final long NOT_CREATED = 0;

        /** Returns whether the instance ended when the kernel module was unloaded. */
        boolean isBefore(String presentLoad) {
            return !moduleLoad.isEmpty() && !presentLoad.isEmpty() && !moduleLoad.equals(presentLoad);
        }

        String key() {
            return process + "/" + serial;
        }
    }
}
