// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Isolated
class LegacyPluginWatchTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(LegacyPluginWatch.class, Level.WARN);

    private static final String DRIVER = "gpu.nvidia.com";
    private static final Inventory DEVICES =
            Inventory.of(Pool.ofNode("node-a", List.of(Device.builder("gpu-0").build())));

    private final List<DriverEvent> events = new ArrayList<>();
    private final List<String> changes = new ArrayList<>();
    private final ManualLoop timer = new ManualLoop();
    private int reads;
    private int status = 200;
    private String amount = "0";

    @AutoClose
    private LegacyPluginWatch watch = watch(true);

    private LegacyPluginWatch watch(boolean withholds) {
        ClusterApi api = new ClusterApi() {
            @Override
            public Answer get(String path) {
                reads++;
                if (status == 0) {
                    throw new NotCheckedException("no answer");
                }
                ObjectNode node = JsonNodeFactory.instance.objectNode();
                node.withObject("/status/allocatable").put("nvidia.com/gpu", amount);
                return new Answer(status, node, null);
            }

            @Override
            public Answer create(String path, JsonNode body) {
                throw new AssertionError("nothing is created");
            }
        };
        DriverSettings settings = new DriverSettings(DRIVER, "node-a");
        settings.withholdsBesideLegacyPlugin = withholds;
        return new LegacyPluginWatch(settings, api, events::add, timer);
    }

    private int published() {
        return watch.apply(DEVICES).pools().get(0).devices().size();
    }

    private void look(int answer, String nvidiaGpu) {
        status = answer;
        amount = nvidiaGpu;
        watch.look(() -> changes.add(nvidiaGpu));
    }

    @Test
    void devicesAreWithheldUntilTheNodeIsRead() {
        look(0, "0");
        assertThat(published()).isZero();
        look(403, "0");
        assertThat(published()).isZero();

        look(200, "0");

        assertThat(published()).isOne();
        assertThat(changes).containsExactly("0");
        assertThat(events).isEmpty();
    }

    @Test
    void aNodeThatCanNotBeReadSaysNothing() {
        look(200, "8");
        look(0, "0");
        assertThat(published()).isZero();

        look(200, "0");
        look(0, "8");
        assertThat(published()).isOne();
        assertThat(events)
                .extracting(event -> event.reason().apiName())
                .containsExactly("LegacyDevicePlugin", "PublishingRecovered");
    }

    @Test
    void aPluginThatComesLaterIsNoticed() {
        look(200, "0");
        look(200, "8");
        look(200, "8");

        assertThat(published()).isZero();
        assertThat(events).hasSize(1);
    }

    private int readsIn(Duration time) {
        int before = reads;
        timer.advance(time);
        return reads - before;
    }

    private void start() {
        watch.start(() -> changes.add(amount));
    }

    @ParameterizedTest
    @CsvSource({"true, 1, 2", "false, 0, 1"})
    void theNodeIsReadOnceAtTheStart(boolean withholds, int before, int soon) {
        watch = watch(withholds);
        start();
        assertThat(reads).as("before the first slice is written").isEqualTo(before);

        assertThat(readsIn(Duration.ofMillis(4999))).isEqualTo(1 - before);
        timer.advance(Duration.ofMillis(1));

        assertThat(reads).isEqualTo(soon);
    }

    @Test
    void aPluginThatComesSoonAfterTheDriverIsNoticedWithinSeconds() {
        start();
        timer.advance(Duration.ofMinutes(9));
        assertThat(published()).isOne();

        amount = "8";
        timer.advance(Duration.ofSeconds(5));

        assertThat(published()).isZero();
        assertThat(changes).containsExactly("8");
    }

    @Test
    void aNodeWithoutAPluginIsReadSeldomAfterTenMinutes() {
        start();
        timer.advance(Duration.ofMinutes(11));

        assertThat(readsIn(Duration.ofHours(1))).isEqualTo(12);
    }

    @ParameterizedTest
    @CsvSource({"200, 8", "403, 0"})
    void devicesThatAreWithheldComeBackWithinSecondsForEver(int answer, String nvidiaGpu) {
        status = answer;
        amount = nvidiaGpu;
        start();
        timer.advance(Duration.ofHours(1));
        assertThat(published()).isZero();

        status = 200;
        amount = "0";
        timer.advance(Duration.ofSeconds(5));

        assertThat(published()).isOne();
    }

    @ParameterizedTest
    @CsvSource({"200, 8", "200, 0", "403, 0", "0, 0"})
    void aDriverThatOnlyWarnsReadsTheNodeSeldom(int answer, String nvidiaGpu) {
        watch = watch(false);
        status = answer;
        amount = nvidiaGpu;
        start();

        assertThat(readsIn(Duration.ofMinutes(59))).isEqualTo(12);
    }

    @Test
    void anAnswerThatRefusesTheNodeIsLoggedOnce() {
        status = 403;

        start();
        timer.advance(Duration.ofMinutes(5));

        assertThat(log.list).singleElement().satisfies(one -> {
            assertThat(one.getLevel()).isEqualTo(Level.WARN);
            assertThat(one.getFormattedMessage())
                    .startsWith("The Node node-a can't be read")
                    .contains("answered 403", "No device is published until");
        });
    }

    @Test
    void aRefusalAfterAnAnswerIsLoggedAgainAndWithholdsNothing() {
        look(403, "0");
        look(200, "0");
        look(403, "0");

        assertThat(log.list).hasSize(2);
        assertThat(log.list.get(1).getFormattedMessage())
                .startsWith("The Node node-a can't be read")
                .doesNotContain("No device is published");
        assertThat(published()).isOne();
    }

    @Test
    void nothingButThePoolsOfTheDriverIsWithheld() {
        Pool elsewhere = Pool.publishedElsewhere("network");
        Inventory all = new Inventory(
                List.of(
                        DEVICES.pools()
                                .get(0)
                                .withCounterSets(List.of(CounterSet.of("memory", Map.of("size", Quantity.of(8))))),
                        elsewhere),
                List.of(new LeftOut("gpu-3", "it is lost")));

        Inventory withheld = watch.apply(all);

        assertThat(withheld.pools()).containsExactly(Pool.ofNode("node-a", List.of()), elsewhere);
        assertThat(withheld.leftOut()).isEqualTo(all.leftOut());
    }

    @Test
    void anAmountThatChangesIsReportedAndChangesNothing() {
        look(200, "8");
        assertThat(changes).as("they were withheld before").isEmpty();

        look(200, "4");

        assertThat(changes).isEmpty();
        assertThat(events)
                .hasSize(2)
                .extracting(DriverEvent::message)
                .allMatch(it -> it.contains("No device is published until the plugin is gone."));
    }

    @Test
    void aWarningWithholdsNothing() {
        watch = watch(false);

        look(200, "8");

        assertThat(published()).isOne();
        assertThat(changes).isEmpty();
        assertThat(events)
                .singleElement()
                .extracting(DriverEvent::message)
                .asString()
                .contains("The devices remain published.")
                .contains("device-plugin=false --overwrite ");
    }
}
