// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import java.util.List;

/**
 * A claim of a checkpoint in Go.
 *
 * @param allocated the names of the devices that were allocated to it
 * @param devices the devices that were prepared; none if it is not prepared
 * @param hasConfig whether it was allocated with a configuration
 */
public record GoClaim(
        String uid,
        boolean isPrepared,
        List<String> allocated,
        List<GoDevice> devices,
        List<String> mpsDaemons,
        boolean hasConfig) {

    public GoClaim {
        allocated = List.copyOf(allocated);
        devices = List.copyOf(devices);
        mpsDaemons = List.copyOf(mpsDaemons);
    }

    public boolean mayHaveChangedHardware() {
        return hasConfig || allocated.stream().anyMatch(name -> !name.matches("gpu-[0-9]+"));
    }
}
