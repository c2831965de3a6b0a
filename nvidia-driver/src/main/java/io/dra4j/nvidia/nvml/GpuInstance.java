// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;

/**
 * An existing GPU instance, with or without a compute instance.
 *
 * @param id its number, which is reused
 * @param profileId the hardware's number of its profile
 * @param devices its compute instances
 */
public record GpuInstance(int id, int profileId, InstancePlacement placement, List<MigDevice> devices) {

    public GpuInstance {
        devices = List.copyOf(devices);
    }
}
