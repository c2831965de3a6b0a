// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Placement;
import org.jspecify.annotations.Nullable;

/**
 * An error that a GPU reported.
 *
 * @param xid its number
 * @param where the memory slices of the GPU instance; null if it is of the whole GPU
 * @param sinceMillis the time of the error, in milliseconds since 1970
 * @param harmless whether the GPU keeps working: an application caused the error, for example
 */
record XidError(long xid, @Nullable Placement where, long sinceMillis, boolean harmless) {

    XidError fatal() {
        return new XidError(xid, where, sinceMillis, false);
    }
}
