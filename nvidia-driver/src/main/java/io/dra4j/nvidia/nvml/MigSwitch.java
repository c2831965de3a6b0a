// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** The result of a request for a MIG mode. */
public enum MigSwitch {
    /** The mode is in effect. */
    DONE,
    /** The mode takes effect after a reset of the GPU. */
    NEEDS_RESET,
    /** A process uses the GPU. */
    IN_USE
}
