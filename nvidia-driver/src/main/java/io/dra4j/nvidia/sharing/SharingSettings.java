// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.Nullable;

/**
 * The sharing that a valid configuration requests.
 *
 * @param interval the interval of time slices, Default if none was given; null with MPS, and for MIG devices
 * @param mps the settings of MPS, empty if none were given; null with time slicing
 */
public record SharingSettings(
        StrategyName strategy,
        @Nullable TimeSliceInterval interval,
        @Nullable MpsConfig mps) {}
