// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** The state of a GPU instance that was created here, as far as it is known. */
public enum Presence {
    /** It exists. */
    PRESENT,
    /** It was destroyed; one in its place is another's. */
    GONE,
    /** It was created in an earlier session: one in its place may be it, or another's. */
    UNKNOWN
}
