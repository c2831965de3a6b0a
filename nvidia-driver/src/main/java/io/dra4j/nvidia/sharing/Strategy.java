// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A strategy of sharing. NVIDIA's driver has both behind feature gates that are off by default;
 * this driver has neither yet, and refuses them.
 */
enum Strategy {
    TimeSlicing("TimeSlicingSettings"),
    MPS("MPSSupport");

    private final String gate;

    Strategy(String gate) {
        this.gate = gate;
    }

    static List<String> problems(@Nullable String given) {
        for (Strategy strategy : values()) {
            if (strategy.name().equals(given)) {
                return List.of(
                        "sharing.strategy is \"%s\", and the feature gate \"%s\" is not enabled: this driver does not support it yet; leave sharing out"
                                .formatted(strategy, strategy.gate));
            }
        }
        return List.of(
                "sharing.strategy is \"%s\"; it must be TimeSlicing or MPS"
                        .formatted(given == null ? "" : given));
    }
}
