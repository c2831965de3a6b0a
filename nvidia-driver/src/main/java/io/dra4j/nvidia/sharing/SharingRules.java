// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.gates.NvidiaGates;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rules of sharing of NVIDIA's driver, with its messages where it has some. */
record SharingRules(NvidiaGates gates) {

    private static final String SUPPORTED = "supported GPU sharing strategies: TimeSlicing, MPS";
    private static final String GATE_OFF =
            "\"%s\" is selected as the GPU sharing strategy, but the \"%s\" feature gate is not enabled: ";
    private static final String SWITCH_ON = "the driver has to be started with --feature-gates=%s=true";
    private static final String OTHER_STRATEGY = "cannot use %s with the '%s' strategy";

    /** Returns whether a configuration's defaults are filled in: those of allowed strategies. */
    boolean allows(@Nullable String strategy, StrategyName wanted) {
        return wanted.name().equals(strategy) && gates.isOn(wanted.gate());
    }

    List<String> problems(@Nullable String given, @Nullable TimeSlicingConfig slices, @Nullable MpsConfig mps) {
        Optional<StrategyName> known = StrategyName.of(given);
        if (known.isEmpty()) {
            return List.of(
                    given == null || given.isEmpty()
                            ? "sharing.strategy is missing, " + SUPPORTED
                            : "unknown GPU sharing strategy: " + given + ", " + SUPPORTED);
        }
        StrategyName strategy = known.get();
        if (!gates.isOn(strategy.gate())) {
            return List.of(GATE_OFF.formatted(strategy, strategy.gate()) + SWITCH_ON.formatted(strategy.gate()));
        }
        List<String> problems = new ArrayList<>();
        if (slices != null) {
            problems.addAll(
                    strategy == StrategyName.TimeSlicing
                            ? slices.problems()
                            : List.of(OTHER_STRATEGY.formatted("TimeSlicingConfig", strategy)));
        }
        if (mps != null) {
            problems.addAll(
                    strategy == StrategyName.MPS
                            ? mps.problems()
                            : List.of(OTHER_STRATEGY.formatted("MpsConfig", strategy)));
        }
        return problems;
    }
}
