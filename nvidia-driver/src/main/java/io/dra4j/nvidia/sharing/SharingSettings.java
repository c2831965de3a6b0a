// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.gates.NvidiaGate;
import java.util.Optional;
import java.util.stream.Stream;
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
        @Nullable MpsConfig mps) {

    /** The strategies of sharing by their names in configurations; each has a feature gate. */
    public enum StrategyName {
        /** Processes take turns on a GPU. */
        TimeSlicing(NvidiaGate.TimeSlicingSettings),
        /** Processes use a GPU at the same time, through a control daemon. */
        MPS(NvidiaGate.MPSSupport);

        private final NvidiaGate gate;

        StrategyName(NvidiaGate gate) {
            this.gate = gate;
        }

        NvidiaGate gate() {
            return gate;
        }

        static Optional<StrategyName> of(@Nullable String name) {
            return Stream.of(values()).filter(one -> one.name().equals(name)).findFirst();
        }
    }

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
}
