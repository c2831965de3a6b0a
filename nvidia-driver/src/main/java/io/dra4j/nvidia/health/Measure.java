// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Nvml;
import java.util.OptionalInt;
import java.util.function.BiFunction;
import java.util.function.IntUnaryOperator;

/** A measurement of a GPU that may have a threshold. */
public enum Measure {
    /** The temperature in degrees Celsius. */
    TEMPERATURE(Nvml::celsius, 1, limit -> limit - 5, "The GPU is hotter than %d °C"),
    /** The power in watts. */
    POWER(Nvml::milliwatts, 1000, limit -> limit * 95 / 100, "The GPU draws more than %d W");

    private final BiFunction<Nvml, String, OptionalInt> reading;
    private final int unit;
    private final IntUnaryOperator end;
    private final String message;

    Measure(BiFunction<Nvml, String, OptionalInt> reading, int unit, IntUnaryOperator end, String message) {
        this.reading = reading;
        this.unit = unit;
        this.end = end;
        this.message = message;
    }

    /** Returns the name in the key of a taint. */
    String key() {
        return this == TEMPERATURE ? "temperature" : "power";
    }

    /** Measures a GPU, in the unit that NVML has; empty if the board does not support it. */
    OptionalInt read(Nvml nvml, String gpu) {
        return reading.apply(nvml, gpu);
    }

    boolean isAbove(int reading, int limit) {
        return reading > limit * unit;
    }

    /** Returns whether a GPU is far enough below the limit: it is not to alternate. */
    boolean isBelow(int reading, int limit) {
        return reading <= end.applyAsInt(limit) * unit;
    }

    String message(int limit) {
        return message.formatted(limit);
    }
}
