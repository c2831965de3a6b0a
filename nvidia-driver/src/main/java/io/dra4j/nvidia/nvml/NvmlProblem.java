// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * An answer of NVML that is missing or invalid, and its cost.
 *
 * @param gpu the UUID of the GPU; empty if it is of none, or of one that could not be identified
 * @param cost the hardware that is unknown because of it
 * @param subject names that hardware for people
 * @param reason the call, NVML's error, and the consequence
 */
public record NvmlProblem(String gpu, Cost cost, String subject, String reason) {

    /** Removes control characters, which an invalid text of NVML may have. */
    public NvmlProblem {
        reason = reason.replaceAll("\\p{Cntrl}", "?");
    }

    /** The hardware that is unknown. */
    public enum Cost {
        /** A GPU, with its MIG devices. */
        GPU,
        /** A profile of GPU instances, with its MIG devices. */
        PROFILE,
        /** The possible placements of a profile. */
        PLACEMENTS,
        /** An existing MIG device. */
        INSTANCE,
        /** None: an attribute is missing, or something is as it was last read. */
        NONE
    }
}
