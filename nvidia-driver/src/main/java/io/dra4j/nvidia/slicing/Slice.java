// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.slicing;

import io.dra4j.nvidia.sharing.TimeSliceInterval;

/**
 * The time slices that this driver has given a GPU.
 *
 * @param interval the interval
 * @param isSet whether it is in force; otherwise it may be
 */
record Slice(TimeSliceInterval interval, boolean isSet) {

    /** The slices of a GPU that this driver has given none. */
    static final Slice NONE = new Slice(TimeSliceInterval.Default, true);

    /** Any slices, that are set or not. */
    static final Slice SUSPECTED = new Slice(TimeSliceInterval.Long, false);

    /** Returns whether the GPU needs a reset before it has the driver's default. */
    boolean isToReset() {
        return interval != TimeSliceInterval.Default;
    }
}
