// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.Nullable;

/** The configuration of a device that can be shared. */
interface DeviceConfig {

    /** Returns the requested sharing, if valid; null for none. */
    @Nullable
    SharingSettings settings();
}
