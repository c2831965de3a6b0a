// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated
class HealthFeedTest {

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
    void beginsWithTheCompleteList() {
        join();
        assertThat(ear.received).containsExactly(HealthState.UNKNOWN);
    }

    @Test
    void tellsAChangeAtOnceAndAnEqualReportNot() {
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
