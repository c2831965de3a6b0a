// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.dra4j.runtime.internal.health.HealthReports.HealthTaints;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** The health of devices as it is reported, second by second, as health-reports.txt says. */
@Isolated
class HealthReportsTest implements ScenarioSteps {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(HealthFeed.class, Level.INFO);

    private final ManualLoop loop = new ManualLoop();
    private final HealthReports reports = new HealthReports(loop);
    private final HealthTaints taints = new HealthTaints(reports, "gpu.example.com", Taint.Effect.NO_SCHEDULE);
    private final AtomicInteger changes = new AtomicInteger();
    private Optional<Inventory> inventory = Optional.of(pool("gpu-0", "gpu-1"));
    private final HealthFeed feed = new HealthFeed(reports, () -> inventory, loop);
    private Ear ear = new Ear();

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

    private static Inventory pool(String... devices) {
        return Inventory.of(Pool.ofNode(
                "node-a",
                Stream.of(devices).map(name -> Device.builder(name).build()).toList()));
    }

    /** Of a device of a pool, which is node-a if it is not named, with a state and the time that it is valid. */
    private static DeviceHealth health(String words) {
        String[] parts = words.split(" ");
        String[] device = parts[0].split("/");
        return new DeviceHealth(
                new PoolName(device.length == 1 ? "node-a" : device[0]),
                new DeviceName(device[device.length - 1]),
                HealthState.valueOf(parts[1]),
                "hot",
                parts[2].equals("forever") ? Duration.ofSeconds(Long.MAX_VALUE) : Duration.parse("PT" + parts[2]));
    }

    private Stream<String> tainted() {
        return taints.taint(inventory.orElseThrow()).pools().get(0).devices().stream()
                .filter(device -> !device.taints().isEmpty())
                .map(device -> device.name() + " " + device.taints().get(0).key());
    }

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "devices" -> inventory = Optional.of(pool(text.split(" ")));
            case "elsewhere" -> inventory = Optional.of(Inventory.of(Pool.publishedElsewhere(words[1])));
            case "unread" -> inventory = Optional.empty();
            case "report" -> {
                reports.report(Stream.of(text.split(", "))
                        .map(HealthReportsTest::health)
                        .toList());
                loop.advance(Duration.ZERO);
            }
            case "advance" -> loop.advance(Duration.parse("PT" + words[1]));
            case "states" ->
                assertThat(list(reports.current(inventory.orElseThrow()).stream()
                                .map(one -> one.pool() + "/" + one.device() + " " + one.state())))
                        .isEqualTo(text);
            case "until-expiry" ->
                assertThat(reports.untilExpiry().map(String::valueOf).orElse("none"))
                        .isEqualTo(text);
            case "tainted" -> assertThat(list(tainted())).isEqualTo(text);
            case "count-changes" -> reports.onChange(changes::incrementAndGet);
            case "changes" -> assertNumber(changes.get(), words, text);
            case "join" -> {
                loop.advance(Duration.ofMillis(1));
                feed.join(ear);
                loop.advance(Duration.ZERO);
            }
            case "another-joins" -> {
                ear = new Ear();
                feed.join(ear);
            }
            case "leave" -> feed.leave(ear);
            case "close" -> feed.close();
            case "forget" -> ear.received.clear();
            case "received" -> assertThat(list(ear.received.stream())).isEqualTo(text);
            case "lists" -> assertNumber(ear.received.size(), words, text);
            case "ends" -> assertNumber(ear.ends, words, text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("health-reports.txt")
    void aReportIsBelievedForAsLongAsItSays(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void aListIsRepeatedTwiceBeforeTheKubeletGivesUp() {
        assertThat(HealthFeed.REPEAT.multipliedBy(2)).isLessThan(HealthFeed.TIMEOUT);
    }

    @Test
    void taintsKeepWhatTheInventoryLeavesOutAndAreAddedOnce() throws Exception {
        Inventory both = inventory.orElseThrow();
        List<LeftOut> broken = List.of(new LeftOut("GPU-5b3f", "broken"));
        assertThat(taints.taint(both)).isEqualTo(both);

        play("report : gpu-1 UNHEALTHY 60S");

        assertThat(taints.taint(both.withLeftOut(broken)).leftOut()).isEqualTo(broken);
        assertThat(taints.taint(taints.taint(both))).isEqualTo(taints.taint(both));
    }

    @Test
    void aFeedLogsEachChangeOnceButNotThatADeviceWorksFromTheStart() throws Exception {
        play("""
                devices : gpu-0
                report : gpu-0 HEALTHY 1H
                report : gpu-0 UNHEALTHY 30S
                report : gpu-0 UNHEALTHY 30S
                advance 1M
                report : gpu-0 HEALTHY 1H""");

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
}
