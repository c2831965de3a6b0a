// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.health.Thresholds;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for GPU health, except those for errors. */
@Command(resourceBundle = "io.dra4j.nvidia.options")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ThresholdOptions {

    private static final String TEMPERATURE = "--temperature-threshold";
    private static final String POWER = "--power-threshold";
    private static final String INTERVAL = "--threshold-interval";
    private static final int MOST_CELSIUS = 150;
    private static final int MOST_WATTS = 100_000;
    private static final int MOST_SECONDS = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    private enum FabricEffect {
        None,
        NoSchedule,
        NoExecute
    }

    @Option(names = "--fabric-effect", order = 11, paramLabel = "None|NoSchedule|NoExecute", defaultValue = "None")
    private FabricEffect fabric;

    /** Returns the effect on GPUs whose NVLink fabric is not up. */
    Effect fabric() {
        return Effect.values()[fabric.ordinal()];
    }

    @Option(names = TEMPERATURE, order = 12, paramLabel = "CELSIUS")
    private @Nullable Integer celsius;

    @Option(names = POWER, order = 13, paramLabel = "WATTS")
    private @Nullable Integer watts;

    @Option(names = INTERVAL, order = 14, paramLabel = "SECONDS", defaultValue = "10")
    private int seconds;

    Thresholds thresholds() {
        Map<DeviceMeasure, Integer> limits = new EnumMap<>(DeviceMeasure.class);
        if (celsius != null) {
            limits.put(DeviceMeasure.TEMPERATURE, checked(TEMPERATURE, celsius, MOST_CELSIUS));
        }
        if (watts != null) {
            limits.put(DeviceMeasure.POWER, checked(POWER, watts, MOST_WATTS));
        }
        return new Thresholds(limits, Duration.ofSeconds(checked(INTERVAL, seconds, MOST_SECONDS)));
    }

    private int checked(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '%s': %d is not between 1 and %d".formatted(option, value, most));
        }
        return value;
    }
}
