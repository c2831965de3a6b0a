// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors that need no recovery expire; what GPUs report is in health-scenarios.txt. */
class DeviceFaultsTest {

    private static final Instant REPORTED = Instant.parse("2026-01-01T00:00:00Z");

    private final DeviceFaults faults = new DeviceFaults(new HealthPolicy(
            ErrorWatch.always,
            XidEffects.DEFAULT,
            Effect.NONE,
            Thresholds.NONE,
            false,
            Duration.ofSeconds(60),
            new HealthStateFile(Path.of("gpus.json"), Path.of("/proc"))));

    @ParameterizedTest
    @CsvSource({"0, false", "59, false", "60, true", "-1, true", "-3600, true"})
    void errorsExpireAlsoIfTheClockIsSetBack(long seconds, boolean isForgotten) {
        faults.failed("GPU-1", new XidError(31, null, REPORTED.toEpochMilli(), Effect.NONE, false));

        boolean forgotten = faults.forget(
                "GPU-1", Duration.ofSeconds(60), REPORTED.plusSeconds(seconds), error -> !error.awaitsRecovery());

        assertThat(forgotten).isEqualTo(isForgotten);
    }
}
