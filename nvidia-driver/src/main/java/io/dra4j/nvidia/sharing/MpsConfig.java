// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.device.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of MPS.
 *
 * @param defaultActiveThreadPercentage the percentage of threads that a client may use
 * @param defaultPinnedDeviceMemoryLimit the limit for each device
 * @param defaultPerDevicePinnedMemoryLimit the limits for some devices, by UUID or position
 * @param multiUser whether clients of several users share
 */
record MpsConfig(
        @Nullable Integer defaultActiveThreadPercentage,
        @Nullable Quantity defaultPinnedDeviceMemoryLimit,
        @Nullable Map<String, Quantity> defaultPerDevicePinnedMemoryLimit,
        @Nullable Boolean multiUser) {}
