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

    /**
     * A prepared device of a checkpoint in Go.
     *
     * @param isShare whether the claim has only a share of it
     * @param cdiIds the CDI ids in the answer to the kubelet
     */
    public record GoDevice(Kind kind, String name, String uuid, boolean isShare, List<String> cdiIds) {

        public enum Kind {
            GPU,
            /** A MIG device, created for the claim or before. */
            MIG,
            /** A GPU that was passed through to a virtual machine. */
            VFIO,
            /** A device of a later release. */
            UNKNOWN
        }

        public GoDevice {
            cdiIds = List.copyOf(cdiIds);
        }
    }
}
