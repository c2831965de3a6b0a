// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.slicing;

import io.dra4j.nvidia.sharing.TimeSliceInterval;
import java.util.List;

/**
 * The time slices that this driver has given a GPU.
 *
 * @param interval the interval
 * @param isSet whether it is in force; otherwise it may be
 * @param before the interval that the GPU had
 */
record Slice(TimeSliceInterval interval, boolean isSet, TimeSliceInterval before) {

    /** The slices of a GPU that this driver has given none. */
    static final Slice NONE = new Slice(TimeSliceInterval.Default, true, TimeSliceInterval.Default);

    /** Any slices, that are set or not. */
    static final Slice SUSPECTED = new Slice(TimeSliceInterval.Long, false, TimeSliceInterval.Default);

    /** Reads the lines of a file: Long, and not known as set, if it is damaged. */
    static Slice read(List<String> lines) {
        try {
            return new Slice(
                    TimeSliceInterval.valueOf(lines.get(0)),
                    Boolean.parseBoolean(lines.get(1)),
                    lines.size() == 2 ? TimeSliceInterval.Default : TimeSliceInterval.valueOf(lines.get(2)));
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return SUSPECTED;
        }
    }

    List<String> lines() {
        return List.of(interval.name(), String.valueOf(isSet), before.name());
    }

    boolean isSetTo(TimeSliceInterval wanted) {
        return isSet && interval == wanted;
    }

    /** Returns whether the GPU needs a reset before it has what it had. */
    boolean isToReset() {
        return interval != before;
    }
}
