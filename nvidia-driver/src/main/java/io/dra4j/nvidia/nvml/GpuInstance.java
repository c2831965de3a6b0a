// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;

/**
 * A GPU instance that is there, with or without a compute instance.
 *
 * @param id its number, which the next one may get
 * @param profileId the hardware's number of its profile
 * @param placement where it is
 * @param devices its compute instances
 */
public record GpuInstance(int id, int profileId, Placement placement, List<MigDevice> devices) {

    /** Copies the devices. */
    public GpuInstance {
        devices = List.copyOf(devices);
    }
}
