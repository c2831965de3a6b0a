// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A pool that breaks one rule: the host learns all there is to know, nothing of the pool is sent,
 * its last good slices stay, and a healthy pool beside it is published at once. A device that
 * breaks one is left out, and the others of its pool are published.
 */
class InvalidPoolsIT {

    private static final Device GPU = Device.builder("gpu-1").build();
    private static final CounterSet SET = CounterSet.of("shared", Map.of("m", Quantity.of(10)));
    private static final Placement HERE = new Placement.ThisNode();
    private static final Pool GOOD = sick(HERE, List.of(SET), gpu());

    /** A pool that breaks a rule in one kind of place, and what the host must be told of it. */
    record Invalid(Pool pool, String field, String rule, String value) {}

    static Stream<Invalid> pools() {
        Placement named = new Placement.NamedNode("other");
        String twice = "sharedCounters[1]";
        return Stream.of(
                new Invalid(
                        sick(new Placement.PerDevice(), List.of(SET), gpu()), "devices[gpu-0]", "nodeName", "allNodes"),
                new Invalid(sick(HERE, List.of(SET, SET), gpu()), twice, "unique in the pool", "shared"),
                new Invalid(sick(named, List.of(SET), gpu()), "nodeName", "must be absent", "other"));
    }

    static Stream<Invalid> devices() {
        Device.Builder text = gpu().attribute("s", "x".repeat(65));
        Device.Builder raw = gpu().rawField("taints", "[]");
        return Stream.of(
                new Invalid(sick(HERE, List.of(SET), text), "devices[gpu-0].attributes[s].string", "64 bytes", ""),
                new Invalid(sick(HERE, List.of(SET), raw), "devices[gpu-0].taints", "its own method", "[]"));
    }

    private static Device.Builder gpu() {
        return Device.builder("gpu-0");
    }

    private static Pool sick(Placement placement, List<CounterSet> sets, Device.Builder gpu) {
        return Pool.builder("sick")
                .placement(placement)
                .devices(List.of(gpu.build(), GPU))
                .counterSets(sets)
                .build();
    }

    private static EmbeddedApiServer server() {
        return EmbeddedApiServer.builder().node(PublishingDriver.NODE).start();
    }

    @ParameterizedTest
    @MethodSource("pools")
    void aRuleBrokenHoldsUpThatPoolAlone(Invalid invalid) throws Exception {
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = PublishingDriver.start(api, GOOD, healthy(0))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();
            List<JsonNode> before = driver.slices("sick");
            int sent = driver.about("sick").size();

            driver.publish(List.of(invalid.pool(), healthy(1)));
            String reported = driver.awaitProblem("pool sick,", invalid.field(), invalid.rule(), invalid.value());
            awaitHealthy(driver, 1);

            assertThat(reported).startsWith("Pool sick is not published");
            assertThat(invalid.field().startsWith("devices[gpu-0]"))
                    .as("the device is named if it is one's: %s", reported)
                    .isEqualTo(reported.contains("device gpu-0"));
            assertThat(driver.slices("sick")).isEqualTo(before).hasSize(2);
            assertThat(driver.about("sick"))
                    .as("requests about the pool\n%s", driver.proxy.log())
                    .hasSize(sent);
            assertThat(driver.refused()).isEmpty();
            assertThat(driver.awaitPublished(Duration.ZERO)).isFalse();
            JsonNode event = event(api, "InvalidPool");
            assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
            assertThat(event.at("/involvedObject/name").asText()).isEqualTo(PublishingDriver.NODE);
            assertThat(event.path("type").asText()).isEqualTo("Warning");
            assertThat(event.at("/source/component").asText()).isEqualTo(PublishingDriver.DRIVER);

            driver.publish(List.of(GOOD, healthy(1)));

            assertThat(driver.awaitPublished()).isTrue();
            assertThat(event(api, "PublishingRecovered").path("type").asText()).isEqualTo("Normal");
        }
    }

    private static JsonNode event(EmbeddedApiServer api, String reason) {
        return api.store()
                .awaitObject("events", it -> it.path("reason").asText().equals(reason), PublishingDriver.TIMEOUT);
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aDeviceThatBreaksARuleIsLeftOutAlone(Invalid invalid) throws Exception {
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = PublishingDriver.start(api, invalid.pool(), healthy(0))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            assertThat(driver.awaitProblem("pool sick,", invalid.field(), invalid.rule(), invalid.value()))
                    .startsWith("Pool sick is published without gpu-0: ");
            assertThat(driver.slices("sick"))
                    .flatExtracting(slice -> slice.at("/spec/devices").findValuesAsText("name"))
                    .containsExactly("gpu-1");
            assertThat(event(api, "InvalidDevices").path("type").asText()).isEqualTo("Warning");

            driver.publish(List.of(GOOD, healthy(0)));

            assertThat(driver.awaitPublished()).isTrue();
            assertThat(driver.slices("sick"))
                    .flatExtracting(slice -> slice.at("/spec/devices").findValuesAsText("name"))
                    .containsExactly("gpu-0", "gpu-1");
            assertThat(driver.refused()).isEmpty();
        }
    }

    private static void awaitHealthy(PublishingDriver driver, int version) {
        driver.api
                .store()
                .awaitObject(
                        PublishingDriver.SLICES,
                        slice -> slice.at("/spec/devices/0/attributes/v/int").asInt(-1) == version,
                        PublishingDriver.TIMEOUT);
    }

    private static Pool healthy(int version) {
        return Pool.ofNode("healthy", List.of(gpu().attribute("v", version).build()));
    }
}
