// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import org.jspecify.annotations.Nullable;

/**
 * A device of a claim that is prepared, and its hardware.
 *
 * @param gpu the GPU, or the parent GPU of a MIG device
 * @param mig the MIG device, which exists; null for a whole GPU
 */
public record SharedDevice(
        AllocatedDevice allocated, Gpu gpu, @Nullable MigDevice mig) {

    /** Returns the device as prepared; the claim's status gets the UUIDs that are not in slices. */
    public PreparedDevice prepared(ContainerEdits edits, boolean isMadeForIt) {
        String data = "{\"uuid\":\"%s\",\"parentUUID\":\"%s\"}".formatted(uuid(), gpu.uuid());
        return PreparedDevice.builder(allocated)
                .edits(edits)
                .status(isMadeForIt ? DeviceStatus.builder().data(data).build() : null)
                .build();
    }

    public String uuid() {
        return mig == null ? gpu.uuid() : mig.uuid();
    }
}
