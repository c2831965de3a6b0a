// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthWatchTest {

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private final ManualLoop timer = new ManualLoop();
    private final List<Collection<DeviceHealth>> reports = new ArrayList<>();
    private Callable<List<DeviceHealth>> probe = () -> List.of();

    private HealthWatch watch(Consumer<Collection<DeviceHealth>> report) {
        return HealthWatch.ofProbe(INTERVAL, () -> probe.call(), report, timer);
    }

    private static DeviceHealth valid(int seconds) {
        return new DeviceHealth(
                new PoolName("node-a"), new DeviceName("gpu-0"), HealthState.HEALTHY, "", Duration.ofSeconds(seconds));
    }

    /** The first reports are no devices, and the first test. */
    @ParameterizedTest
    @CsvSource({"30, 3", "20, 3", "12, 5", "2, 30"})
    void reportsAgainInTimeBeforeAReportExpires(int validFor, int testsInHalfAMinute) {
        probe = () -> List.of(valid(validFor), valid(60));
        watch(reports::add);
        assertThat(reports).hasSize(2).endsWith(List.of(valid(validFor), valid(60)));

        timer.advance(Duration.ofSeconds(30));

        assertThat(reports).hasSize(2 + testsInHalfAMinute);
    }

    @Test
    void reportsNothingWhileTheProbeFailsAndNoMoreOnceClosed() {
        HealthWatch watch = watch(reports::add);
        reports.clear();
        probe = () -> {
            throw new IOException("the bus hangs");
        };
        timer.advance(INTERVAL.multipliedBy(3));
        probe = () -> null;
        watch.look();
        assertThat(reports).isEmpty();

        probe = () -> List.of(valid(30));
        timer.advance(INTERVAL);
        watch.close();

        assertThat(reports).containsExactly(List.of(valid(30)));
        assertThat(timer.waiting()).isZero();
    }

    @Test
    void refusesADriverThatWasBuiltWithoutTheHealthService() {
        IllegalStateException refused = new IllegalStateException("call healthService()");

        assertThatThrownBy(() -> watch(health -> {
                    throw refused;
                }))
                .isSameAs(refused);
    }
}
