// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** A node on which a device plugin comes and goes, minute by minute, as legacy-plugin.txt says. */
@Isolated
class LegacyPluginWatchTest implements ScenarioSteps {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(LegacyPluginWatch.class, Level.WARN);

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
        DriverSettings settings = new DriverSettings("gpu.nvidia.com", "node-a");
        settings.withholdsBesideLegacyPlugin = withholds;
        return new LegacyPluginWatch(settings, api, events::add, timer);
    }

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "only-warns" -> watch = watch(false);
            case "node" -> {
                status = words[1].equals("silent") ? 0 : words[1].equals("refused") ? 403 : 200;
                amount = words[1].matches("\\d+") ? words[1] : "0";
            }
            case "look" -> watch.look(() -> changes.add(amount));
            case "start" -> watch.start(() -> changes.add(amount));
            case "advance" -> {
                reads = 0;
                timer.advance(Duration.parse("PT" + words[1]));
            }
            case "reads" -> assertNumber(reads, words, text);
            case "published" ->
                assertNumber(watch.apply(DEVICES).pools().get(0).devices().size(), words, text);
            case "changes" -> assertThat(list(changes.stream())).isEqualTo(text);
            case "events" ->
                assertThat(list(events.stream().map(event -> event.reason().apiName())))
                        .isEqualTo(text);
            case "all-events" ->
                assertThat(events).extracting(DriverEvent::message).allMatch(message -> message.contains(text));
            case "logged" -> assertNumber(log.list.size(), words, text);
            case "log-has", "log-lacks" -> {
                assertThat(log.list).extracting(ILoggingEvent::getLevel).containsOnly(Level.WARN);
                String last = log.list.get(log.list.size() - 1).getFormattedMessage();
                assertThat(last.startsWith("The Node node-a can't be read")).isTrue();
                assertThat(last.contains(text)).as(last).isEqualTo(words[0].equals("log-has"));
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("legacy-plugin.txt")
    void devicesAreWithheldBesideAPlugin(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void nothingButThePoolsOfTheDriverIsWithheld() throws Exception {
        play("node 8\nlook");
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
}
