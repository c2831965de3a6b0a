// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of time slicing.
 *
 * @param interval {@code Default}, {@code Short}, {@code Medium} or {@code Long}
 */
record TimeSlicingConfig(@Nullable String interval) {

    List<String> problems() {
        return TimeSliceInterval.of(interval).isPresent()
                ? List.of()
                : List.of(
                        "unknown time-slice interval: %s, supported time-slice intervals: Default, Short, Medium, Long"
                                .formatted(interval));
    }
}
