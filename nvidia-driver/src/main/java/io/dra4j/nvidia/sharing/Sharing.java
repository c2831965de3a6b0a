// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A strategy of sharing. Both strategies of NVIDIA's driver are behind feature gates that are off
 * by default; this driver has neither yet, and rejects them.
 *
 * @param strategy {@code TimeSlicing} or {@code MPS}
 * @param timeSlicingConfig the settings of time slicing
 * @param mpsConfig the settings of MPS
 */
record Sharing(
        @Nullable String strategy,
        @Nullable TimeSlicing timeSlicingConfig,
        @Nullable Mps mpsConfig) {

    private static final Map<String, String> GATES =
            Map.of("TimeSlicing", "TimeSlicingSettings", "MPS", "MPSSupport");

    /**
     * The settings of time slicing.
     *
     * @param interval {@code Default}, {@code Short}, {@code Medium} or {@code Long}
     */
    public record TimeSlicing(@Nullable String interval) {}

    /**
     * The settings of MPS.
     *
     * @param defaultActiveThreadPercentage the percentage of threads that a client may use
     * @param defaultPinnedDeviceMemoryLimit the limit for each device, a quantity
     * @param defaultPerDevicePinnedMemoryLimit the limits for some devices, by UUID or position
     * @param multiUser whether clients of several users share
     */
    public record Mps(
            @Nullable Integer defaultActiveThreadPercentage,
            @Nullable String defaultPinnedDeviceMemoryLimit,
            @Nullable Map<String, String> defaultPerDevicePinnedMemoryLimit,
            @Nullable Boolean multiUser) {}

    List<String> problems() {
        String gate = strategy == null ? null : GATES.get(strategy);
        return List.of(
                gate == null
                        ? "sharing.strategy is \"%s\"; it must be TimeSlicing or MPS"
                                .formatted(strategy == null ? "" : strategy)
                        : "sharing.strategy is \"%s\", which needs the feature gate %s, and this driver does not have it yet: leave sharing out"
                                .formatted(strategy, gate));
    }
}
