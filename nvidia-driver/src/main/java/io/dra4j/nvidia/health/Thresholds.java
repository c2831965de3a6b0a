// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import java.time.Duration;
import java.util.Map;

/**
 * The limits that GPUs may not exceed.
 *
 * @param limits the limits, in degrees Celsius and watts; none is measured without one
 * @param interval the interval between measurements
 */
public record Thresholds(Map<Measure, Integer> limits, Duration interval) {

    /** No limits. */
    public static final Thresholds NONE = new Thresholds(Map.of(), Duration.ofSeconds(10));

    /** Copies the map. */
    public Thresholds {
        limits = Map.copyOf(limits);
    }
}
