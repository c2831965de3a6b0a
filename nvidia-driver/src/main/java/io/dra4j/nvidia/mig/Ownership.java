// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.nvidia.nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Presence;
import java.util.UUID;

/**
 * Tells the GPU instances of claims from those that somebody else has created in their places.
 *
 * <p>Within a session of NVML the handle decides. Across sessions of one load of the kernel module,
 * place and profile do: NVML has nothing that tells more. Thread-safe; callers hold the GPU's lock.
 */
final class Ownership {

    private final Nvml nvml;
    private final String process = UUID.randomUUID().toString();

    Ownership(Nvml nvml) {
        this.nvml = nvml;
    }

    Origin origin(CreatedInstance created) {
        return new Origin(nvml.moduleLoad(), process, created.serial());
    }

    /**
     * Returns whether a GPU instance belongs to a recorded MIG device.
     *
     * @throws io.dra4j.nvidia.nvml.NvmlException if that can't be read
     */
    boolean owns(MigAllocation recorded, String gpu, GpuInstance instance) {
        if (!recorded.isAt(gpu, instance)) {
            return false;
        }
        Origin origin = recorded.origin();
        if (origin == null) {
            return recorded.matches(instance);
        }
        if (origin.isBefore(nvml.moduleLoad())) {
            return false;
        }
        Presence presence =
                origin.process().equals(process)
                        ? nvml.presence(gpu, origin.serial())
                        : Presence.UNKNOWN;
        return presence == Presence.PRESENT
                || (presence == Presence.UNKNOWN && recorded.matches(instance));
    }
}
