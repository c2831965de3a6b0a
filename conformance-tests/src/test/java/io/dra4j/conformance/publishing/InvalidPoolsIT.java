// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.conformance.apiserver.EmbeddedApiServer;
import io.dra4j.conformance.apiserver.FeatureGate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A pool that breaks one rule: the host learns all there is to know, nothing of the pool is sent,
 * its last good slices stay, and a healthy pool beside it is published at once.
 */
class InvalidPoolsIT {

    private final EmbeddedApiServer api =
            EmbeddedApiServer.builder()
                    .node(PublishingDriver.NODE)
                    .featureGate(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true)
                    .start();

    @Test
    void eachRuleBrokenHoldsUpThatPoolAlone() throws Exception {
        List<Violation> violations = Violation.all();
        try (api;
                PublishingDriver driver = PublishingDriver.start(api)) {
            for (int i = 0; i < violations.size(); i++) {
                check(driver, violations.get(i), i);
            }
            assertThat(driver.refused()).isEmpty();
        }
        System.out.printf("violations: %d rules broken, one by one%n", violations.size());
    }

    private void check(PublishingDriver driver, Violation violation, int round) throws Exception {
        Pool good = Violation.goodPool("sick-" + round);
        driver.publish(List.of(good, healthy(round, 0)));
        assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();
        List<JsonNode> before = driver.slices(good.name().value());
        int sent = driver.about(good.name().value()).size();

        driver.publish(List.of(violation.bad().apply(good), healthy(round, 1)));
        String told =
                driver.awaitProblem(
                        "pool " + good.name() + ",",
                        violation.field(),
                        violation.rule(),
                        violation.value());
        awaitHealthy(round, 1);

        assertThat(told.startsWith("Pool " + good.name() + " is not published")).isTrue();
        assertThat(violation.field().startsWith("devices[gpu-0]"))
                .as("the device is named if it is one's: %s", told)
                .isEqualTo(told.contains("device gpu-0"));
        assertThat(driver.slices(good.name().value())).isEqualTo(before).hasSize(2);
        assertThat(driver.about(good.name().value()))
                .as("requests about the pool\n%s", driver.proxy.log())
                .hasSize(sent);
    }

    @Test
    void aPoolThatIsInvalidFromTheStartIsPublishedWhenItIsMended() throws Exception {
        Pool good = Violation.goodPool("sick");
        Violation violation = Violation.all().get(0);
        try (api;
                PublishingDriver driver =
                        PublishingDriver.start(api, violation.bad().apply(good), healthy(0, 0))) {
            driver.awaitProblem("pool sick,", violation.field());
            awaitHealthy(0, 0);
            assertThat(driver.awaitPublished(Duration.ofMillis(200))).isFalse();
            assertThat(driver.about("sick")).isEmpty();

            driver.publish(List.of(good, healthy(0, 0)));

            assertThat(driver.awaitPublished()).isTrue();
            assertThat(driver.slices("sick")).hasSize(2);
        }
    }

    private void awaitHealthy(int round, int part) {
        api.store()
                .awaitObject(
                        PublishingDriver.SLICES,
                        slice ->
                                slice.at("/spec/pool/name").asText().equals("healthy")
                                        && slice.at("/spec/devices/0/attributes/round/int").asInt()
                                                == round
                                        && slice.at("/spec/devices/0/attributes/part/int").asInt()
                                                == part,
                        PublishingDriver.PATIENCE);
    }

    private static Pool healthy(int round, int part) {
        return Pool.ofNode(
                "healthy",
                List.of(
                        Device.builder("gpu-0")
                                .attribute("round", round)
                                .attribute("part", part)
                                .build()));
    }
}
