// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.dra4j.runtime.internal.health.HealthReports.HealthTaints;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated
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
        void hasEachDeviceOfTheInventoryOnceReportedOrNotAlsoBeforeItIsThere() {
            report("gpu-1", HealthState.UNHEALTHY);
            report("gpu-1", HealthState.HEALTHY);
            report("gpu-7", HealthState.HEALTHY);

            assertThat(states(TWO)).containsExactly("node-a/gpu-0 UNKNOWN", "node-a/gpu-1 HEALTHY");
            assertThat(states(pool("gpu-7"))).containsExactly("node-a/gpu-7 HEALTHY");
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
            report("gpu-0", HealthState.HEALTHY);
            report("gpu-1", HealthState.UNKNOWN);
            assertThat(tainted()).isEmpty();
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

    @Nested
    class AFeed {

        @RegisterExtension
        final LoggedEvents log = new LoggedEvents(HealthFeed.class, Level.INFO);

        private static final Duration REPEAT = Duration.ofSeconds(10);

        private final ManualLoop loop = new ManualLoop();
        private final HealthReports reports = new HealthReports(loop);
        private final Pool pool =
                Pool.ofNode("node-a", List.of(Device.builder("gpu-0").build()));
        private Optional<Inventory> inventory = Optional.of(Inventory.of(pool));
        private final HealthFeed feed = new HealthFeed(reports, () -> inventory, loop);
        private final Ear ear = new Ear();

        private static final class Ear implements HealthFeed.Listener {
            private final List<HealthState> received = new ArrayList<>();
            private int ends;

            @Override
            public void update(List<Current> devices) {
                received.addAll(devices.stream().map(Current::state).toList());
            }

            @Override
            public void end() {
                ends++;
            }
        }

        private void join() {
            loop.advance(Duration.ofMillis(1));
            feed.join(ear);
            loop.advance(Duration.ZERO);
        }

        private void report(HealthState state, Duration validFor) {
            DeviceName gpu = new DeviceName("gpu-0");
            reports.report(List.of(new DeviceHealth(pool.name(), gpu, state, "hot", validFor)));
            loop.advance(Duration.ZERO);
        }

        @Test
        void beginsWithTheCompleteListAndTellsAChangeAtOnceAndAnEqualReportNot() {
            join();

            report(HealthState.HEALTHY, Duration.ofHours(1));
            report(HealthState.HEALTHY, Duration.ofHours(1));
            report(HealthState.UNHEALTHY, Duration.ofHours(1));

            assertThat(ear.received).containsExactly(HealthState.UNKNOWN, HealthState.HEALTHY, HealthState.UNHEALTHY);
        }

        @Test
        void repeatsTheListInTimeHoweverOftenTheProviderReportsTheSame() {
            join();
            report(HealthState.HEALTHY, Duration.ofHours(1));
            int before = ear.received.size();

            for (int second = 0; second < 61; second++) {
                report(HealthState.HEALTHY, Duration.ofHours(1));
                loop.advance(Duration.ofSeconds(1));
            }

            assertThat(ear.received.size() - before).isEqualTo(6);
            assertThat(REPEAT).isLessThan(HealthFeed.TIMEOUT.dividedBy(2));
        }

        @Test
        void tellsWhenAReportExpires() {
            join();
            report(HealthState.HEALTHY, Duration.ofSeconds(3));

            loop.advance(Duration.ofSeconds(3));
            assertThat(ear.received).last().isEqualTo(HealthState.HEALTHY);
            loop.advance(Duration.ofMillis(2));
            assertThat(ear.received).last().isEqualTo(HealthState.UNKNOWN);
        }

        @Test
        void logsEachChangeOnceButNotThatADeviceWorksFromTheStart() {
            report(HealthState.HEALTHY, Duration.ofHours(1));
            report(HealthState.UNHEALTHY, Duration.ofSeconds(30));
            report(HealthState.UNHEALTHY, Duration.ofSeconds(30));
            loop.advance(Duration.ofMinutes(1));
            report(HealthState.HEALTHY, Duration.ofHours(1));

            String changed = "The health of a device changed from ";
            String device = "[pool=\"node-a\", device=\"gpu-0\", ";
            assertThat(log.list)
                    .extracting(event -> event.getLevel() + event.getFormattedMessage() + event.getKeyValuePairs())
                    .containsExactly(
                            "WARN" + changed + "HEALTHY to UNHEALTHY" + device + "reason=\"hot\"]",
                            "WARN" + changed + "UNHEALTHY to UNKNOWN" + device
                                    + "reason=\"the driver has no current report of this device\"]",
                            "INFO" + changed + "UNKNOWN to HEALTHY" + device + "reason=\"hot\"]");
        }

        @Test
        void hasAnEmptyListWhileNoInventoryCouldBeRead() {
            inventory = Optional.empty();
            join();
            assertThat(ear.received).isEmpty();
        }

        @Test
        void leavesAloneWhoHasLeft() {
            join();
            feed.leave(ear);

            report(HealthState.HEALTHY, Duration.ofHours(1));
            feed.close();

            assertThat(ear.received).hasSize(1);
            assertThat(ear.ends).isZero();
        }

        @Test
        void endsEachListenerOnceAlsoOneThatComesLate() {
            join();
            feed.close();
            feed.close();
            assertThat(ear.ends).isEqualTo(1);

            Ear late = new Ear();
            feed.join(late);
            assertThat(late.ends).isEqualTo(1);
            assertThat(late.received).isEmpty();
        }
    }
}
