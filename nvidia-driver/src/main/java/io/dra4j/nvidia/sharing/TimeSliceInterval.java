// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The lengths of time slices, in the order of the numbers that {@code nvidia-smi} uses, from 0. */
public enum TimeSliceInterval {
    Default,
    Short,
    Medium,
    Long;

    static Optional<TimeSliceInterval> of(@Nullable String name) {
        return Stream.of(values()).filter(one -> one.name().equals(name)).findFirst();
    }
}
