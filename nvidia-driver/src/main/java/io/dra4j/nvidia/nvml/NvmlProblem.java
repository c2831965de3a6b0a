// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/**
 * A missing or invalid answer of NVML, and its consequence.
 *
 * @param gpu the UUID of the GPU; empty for none, or for one that could not be identified
 * @param cost the hardware that is unknown because of it
 * @param subject the name of that hardware in messages
 * @param reason the call, NVML's error, and the consequence
 */
public record NvmlProblem(String gpu, Cost cost, String subject, String reason) {

    /** Removes control characters, which an invalid text of NVML may have. */
    public NvmlProblem {
        reason = reason.replaceAll("\\p{Cntrl}", "?");
    }

    /** The hardware that is unknown because of a problem. */
    public enum Cost {
        /** A GPU, with its MIG devices. */
        GPU,
        /** A profile of GPU instances, with its MIG devices. */
        PROFILE,
        /** The possible placements of a profile. */
        PLACEMENTS,
        /** An existing MIG device. */
        INSTANCE,
        /** No hardware: an attribute is missing, or has the value last read. */
        NONE
    }
}
