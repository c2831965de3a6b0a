// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** What came of asking for a MIG mode. */
public enum MigSwitch {
    /** It is in force. */
    DONE,
    /** It will be in force after a reset of the GPU. */
    NEEDS_RESET,
    /** Somebody uses the GPU. */
    IN_USE
}
