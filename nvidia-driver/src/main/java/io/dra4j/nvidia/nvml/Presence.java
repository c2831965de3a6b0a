// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** The state of a GPU instance that was created here, as far as it is known. */
public enum Presence {
    /** It exists. */
    PRESENT,
    /** It was destroyed; an instance in its place is foreign. */
    GONE,
    /** It was created in an earlier session: an instance in its place may be this one or a foreign one. */
    UNKNOWN
}
