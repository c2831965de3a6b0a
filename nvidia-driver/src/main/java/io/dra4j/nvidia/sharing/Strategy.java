// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.gates.FeatureGate;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The strategies of sharing by their names in configurations; each has a feature gate. */
public enum Strategy {
    /** Processes take turns on a GPU. */
    TimeSlicing(FeatureGate.TimeSlicingSettings),
    /** Processes use a GPU at the same time, through a control daemon. */
    MPS(FeatureGate.MPSSupport);

    private final FeatureGate gate;

    Strategy(FeatureGate gate) {
        this.gate = gate;
    }

    FeatureGate gate() {
        return gate;
    }

    static Optional<Strategy> of(@Nullable String name) {
        return Stream.of(values()).filter(one -> one.name().equals(name)).findFirst();
    }
}
