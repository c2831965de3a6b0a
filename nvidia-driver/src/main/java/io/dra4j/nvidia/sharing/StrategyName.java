// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.gates.NvidiaGate;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
