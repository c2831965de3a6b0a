// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.metrics.DeviceMeasure;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The limits that GPUs may not exceed.
 *
 * @param limits the limits of the temperature in degrees Celsius, and of the power in watts; quantities without a limit
 * are not measured
 */
public record Thresholds(Map<DeviceMeasure, Integer> limits, Duration interval) {

    public static final Thresholds NONE = new Thresholds(Map.of(), Duration.ofSeconds(10));

    public Thresholds {
        limits = Map.copyOf(limits);
    }

    int limit(DeviceMeasure measure) {
        return Objects.requireNonNull(limits.get(measure));
    }

    /** Returns whether a GPU is far enough below the limit, so that its state does not alternate. */
    boolean isBelow(DeviceMeasure measure, double reading) {
        int limit = limit(measure);
        return reading <= (measure == DeviceMeasure.TEMPERATURE ? limit - 5 : limit * 95 / 100);
    }

    /** Returns the name of a measure in the key of a taint. */
    static String key(DeviceMeasure measure) {
        return measure.name().toLowerCase(Locale.ROOT);
    }

    String message(DeviceMeasure measure) {
        return measure == DeviceMeasure.TEMPERATURE
                ? "The GPU is hotter than %d °C".formatted(limit(measure))
                : "The GPU draws more than %d W".formatted(limit(measure));
    }
}
