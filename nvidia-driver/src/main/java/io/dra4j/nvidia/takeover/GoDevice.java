// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import java.util.List;

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
