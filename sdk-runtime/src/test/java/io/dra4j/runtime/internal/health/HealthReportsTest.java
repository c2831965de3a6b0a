// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.dra4j.runtime.internal.health.HealthReports.HealthTaints;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HealthReportsTest {

    private static final Duration VALID = Duration.ofSeconds(60);
    private static final Inventory TWO = pool("gpu-0", "gpu-1");

    private Instant now = Instant.parse("2026-01-02T03:04:05Z");
    private final HealthReports reports = new HealthReports(() -> now);

    private static Inventory pool(String... devices) {
        return Inventory.of(Pool.ofNode(
                "node-a",
                Stream.of(devices).map(name -> Device.builder(name).build()).toList()));
    }

    private static DeviceHealth health(String pool, String device, HealthState state, Duration valid) {
        return new DeviceHealth(new PoolName(pool), new DeviceName(device), state, "as reported", valid);
    }

    private void report(String device, HealthState state) {
        reports.report(List.of(health("node-a", device, state, VALID)));
    }

    private List<String> states(Inventory inventory) {
        return reports.current(inventory).stream()
                .map(one -> one.pool() + "/" + one.device() + " " + one.state())
                .toList();
    }

    @Nested
    class TheList {

        @Test
        void hasEachDeviceOfTheInventoryOnceReportedOrNot() {
            report("gpu-1", HealthState.UNHEALTHY);
            report("gpu-1", HealthState.HEALTHY);
            report("gpu-7", HealthState.HEALTHY);

            assertThat(states(TWO)).containsExactly("node-a/gpu-0 UNKNOWN", "node-a/gpu-1 HEALTHY");
        }

        @Test
        void saysWhyADeviceIsUnknown() {
            assertThat(reports.current(TWO))
                    .extracting(Current::message)
                    .containsOnly("the driver has no current report of this device");
        }

        @Test
        void believesAReportForAsLongAsItSaid() {
            report("gpu-0", HealthState.HEALTHY);

            now = now.plus(VALID).minusNanos(1);
            assertThat(states(TWO)).contains("node-a/gpu-0 HEALTHY");
            assertThat(reports.untilExpiry()).contains(Duration.ofNanos(1));
            now = now.plusNanos(1);
            assertThat(states(TWO)).contains("node-a/gpu-0 UNKNOWN");
            assertThat(reports.untilExpiry()).isEmpty();
        }

        @Test
        void takesAReportThatIsValidForever() {
            Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
            reports.report(List.of(health("node-a", "gpu-0", HealthState.HEALTHY, forever)));

            assertThat(states(TWO)).contains("node-a/gpu-0 HEALTHY");
        }

        @Test
        void remembersAReportThatIsOlderThanItsDevice() {
            report("gpu-7", HealthState.HEALTHY);
            assertThat(states(TWO)).hasSize(2);

            assertThat(states(pool("gpu-7"))).containsExactly("node-a/gpu-7 HEALTHY");
        }

        @Test
        void ofAPoolPublishedElsewhereHasTheDevicesWithAReport() {
            Inventory fabric = Inventory.of(Pool.publishedElsewhere("fabric"));
            reports.report(List.of(
                    health("fabric", "nic-3", HealthState.HEALTHY, VALID),
                    health("other", "nic-4", HealthState.HEALTHY, VALID)));

            assertThat(states(fabric)).containsExactly("fabric/nic-3 HEALTHY");
            now = now.plus(VALID);
            assertThat(states(fabric)).isEmpty();
        }
    }

    @Nested
    class Taints {

        private final HealthTaints taints = new HealthTaints(reports, "gpu.example.com", Taint.Effect.NO_SCHEDULE);
        private final AtomicInteger changes = new AtomicInteger();

        private List<String> tainted() {
            return taints.taint(TWO).pools().get(0).devices().stream()
                    .filter(device -> !device.taints().isEmpty())
                    .map(device -> device.name() + " " + device.taints().get(0).key())
                    .toList();
        }

        @Test
        void areOnDevicesThatDoNotWork() {
            assertThat(taints.taint(TWO)).isEqualTo(TWO);
            report("gpu-1", HealthState.UNHEALTHY);

            assertThat(tainted()).containsExactly("gpu-1 gpu.example.com/unhealthy");
            assertThat(taints.taint(taints.taint(TWO)))
                    .as("what is tainted already")
                    .isEqualTo(taints.taint(TWO));
        }

        @Test
        void keepWhatTheInventoryLeavesOut() {
            List<LeftOut> broken = List.of(new LeftOut("GPU-5b3f", "broken"));

            assertThat(taints.taint(TWO.withLeftOut(broken)).leftOut()).isEqualTo(broken);
        }

        @Test
        void stayUntilTheDeviceIsReportedHealthy() {
            report("gpu-1", HealthState.UNHEALTHY);
            now = now.plus(VALID);
            assertThat(tainted()).as("expired").hasSize(1);
            report("gpu-1", HealthState.UNKNOWN);
            now = now.plus(VALID);
            reports.current(TWO);
            assertThat(tainted()).as("unknown").hasSize(1);

            report("gpu-1", HealthState.HEALTHY);
            assertThat(tainted()).isEmpty();
        }

        @ParameterizedTest
        @EnumSource(
                value = HealthState.class,
                names = {"HEALTHY", "UNKNOWN"})
        void areNotOnOthers(HealthState state) {
            report("gpu-0", state);
            assertThat(tainted()).isEmpty();
        }

        @Test
        void changeWhenADeviceCeasesToWorkOrWorksAgainAndAtNoOtherReport() {
            taints.onChange(changes::incrementAndGet);

            report("gpu-0", HealthState.HEALTHY);
            assertThat(changes).hasValue(0);
            report("gpu-0", HealthState.UNHEALTHY);
            report("gpu-0", HealthState.UNHEALTHY);
            report("gpu-0", HealthState.UNKNOWN);
            assertThat(changes).hasValue(1);
            report("gpu-0", HealthState.HEALTHY);
            assertThat(changes).hasValue(2);
        }
    }
}
