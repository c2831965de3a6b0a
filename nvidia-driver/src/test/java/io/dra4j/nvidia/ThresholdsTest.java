// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Taint;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.health.Measure;
import io.dra4j.nvidia.health.Thresholds;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** GPUs exceed their thresholds, and come back. */
class ThresholdsTest extends TaintsOnBoards {

    private static final List<Taint> HOT =
            List.of(Taint.of("gpu.nvidia.com/temperature", "above-85", Taint.Effect.NO_SCHEDULE));
    private static final List<Taint> POWER =
            List.of(Taint.of("gpu.nvidia.com/power", "above-600", Taint.Effect.NO_SCHEDULE));
    private static final int UNSUPPORTED = -1;
    private static final int MANY = 1_000_000; // calls

    @BeforeEach
    void limit() {
        thresholds = new Thresholds(Map.of(Measure.TEMPERATURE, 85, Measure.POWER, 600), Duration.ofMillis(50));
    }

    /** Waits until each GPU has been measured again: a second GPU gets hot after the first. */
    private void awaitMeasured(NvidiaDeviceProvider provider, Map<String, List<Taint>> wanted)
            throws InterruptedException {
        hardware.set(3, "celsius", 90);
        Map<String, List<Taint>> all = new TreeMap<>(wanted);
        all.put("gpu-3", HOT);
        awaitTaints(provider, all);
        hardware.set(3, "celsius", 40);
        awaitTaints(provider, wanted);
    }

    @Test
    void aHotGpuIsTaintedUntilItIsWellBelow() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.set(1, "celsius", 85);
        awaitMeasured(provider, Map.of());

        hardware.set(1, "celsius", 86);

        awaitTaints(provider, Map.of("gpu-1", HOT));
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.UNHEALTHY);
        assertThat(context.health.get("gpu-1").message()).isEqualTo("The GPU is hotter than 85 °C");
        hardware.set(1, "celsius", 81);
        awaitMeasured(provider, Map.of("gpu-1", HOT));
        hardware.set(1, "celsius", 80);
        awaitTaints(provider, Map.of());
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void powerTaintsTheDevicesOfTheGpuUntilItIsWellBelow() throws Exception {
        NvidiaDeviceProvider provider = start("a100-40-divided", false);
        List<String> ofTheGpu = provider.inventory().pools().get(0).devices().stream()
                .map(device -> device.name().value())
                .filter(name -> name.startsWith("gpu-1"))
                .toList();

        hardware.set(1, "milliwatts", 600_001);

        Map<String, List<Taint>> wanted = new TreeMap<>();
        ofTheGpu.forEach(name -> wanted.put(name, POWER));
        assertThat(wanted).isNotEmpty();
        awaitTaints(provider, wanted);
        hardware.set(1, "milliwatts", 570_000);
        awaitTaints(provider, Map.of());
    }

    @Test
    void whatABoardDoesNotMeasureHasNoEffect() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.set(0, "celsius", UNSUPPORTED);
        hardware.set(0, "milliwatts", UNSUPPORTED);

        awaitMeasured(provider, Map.of());

        assertThat(context.health.get("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void aGpuThatCannotBeMeasuredStaysAsItWas() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.set(1, "celsius", 86);
        awaitTaints(provider, Map.of("gpu-1", HOT));

        hardware.fails("nvmlDeviceGetTemperature", 1, 999, MANY);
        hardware.set(1, "celsius", 40);

        awaitMeasured(provider, Map.of("gpu-1", HOT));
        hardware.noneFails();
        awaitTaints(provider, Map.of());
    }

    @Test
    void nothingIsMeasuredWithoutAThreshold() throws Exception {
        thresholds = new Thresholds(Map.of(Measure.TEMPERATURE, 85), Duration.ofMillis(50));
        NvidiaDeviceProvider provider = start("l40s", false);
        hardware.fails("nvmlDeviceGetPowerUsage", 0, 999, MANY);

        awaitMeasured(provider, Map.of());

        assertThat(hardware.hasFailed(MANY)).isFalse();
    }

    @Test
    void taintsOutliveTheDriverWithTheThreshold() throws Exception {
        NvidiaDeviceProvider first = start("l40s", false);
        hardware.set(1, "celsius", 86);
        awaitTaints(first, Map.of("gpu-1", HOT));
        stop();
        hardware.fails("nvmlDeviceGetTemperature", 999);

        assertThat(taints(startAgain(false, false))).isEqualTo(Map.of("gpu-1", HOT));

        stop();
        thresholds = Thresholds.NONE;
        assertThat(taints(startAgain(false, false))).isEmpty();
    }
}
