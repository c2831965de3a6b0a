// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.FeatureGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * A pool that breaks one rule: the host learns all there is to know, nothing of the pool is sent,
 * its last good slices stay, and a healthy pool beside it is published at once.
 */
class InvalidPoolsIT {

    /** A driver that changes its mind is held up for a second each time: drivers wait together. */
    private static final int LANES = 8;

    private static EmbeddedApiServer server() {
        return EmbeddedApiServer.builder()
                .node(PublishingDriver.NODE)
                .featureGate(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true)
                .start();
    }

    @Test
    void eachRuleBrokenHoldsUpThatPoolAlone() throws Exception {
        List<Violation> violations = Violation.all();
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        try {
            List<Future<Integer>> checked = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int first = lane;
                checked.add(lanes.submit(() -> checkEveryEighth(violations, first)));
            }
            int sum = 0;
            for (Future<Integer> lane : checked) {
                sum += lane.get();
            }
            assertThat(sum).isEqualTo(violations.size());
        } finally {
            lanes.shutdownNow();
        }
        System.out.printf("violations: %d rules broken, one by one%n", violations.size());
    }

    private static int checkEveryEighth(List<Violation> violations, int first) throws Exception {
        int checked = 0;
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = PublishingDriver.start(api)) {
            for (int i = first; i < violations.size(); i += LANES) {
                check(driver, violations.get(i), i);
                checked++;
            }
            assertThat(driver.refused()).isEmpty();
        }
        return checked;
    }

    private static void check(PublishingDriver driver, Violation violation, int round)
            throws Exception {
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
        awaitHealthy(driver, round, 1);

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
        try (EmbeddedApiServer api = server();
                PublishingDriver driver =
                        PublishingDriver.start(api, violation.bad().apply(good), healthy(0, 0))) {
            driver.awaitProblem("pool sick,", violation.field());
            awaitHealthy(driver, 0, 0);
            assertThat(driver.awaitPublished(Duration.ofMillis(200))).isFalse();
            assertThat(driver.about("sick")).isEmpty();

            driver.publish(List.of(good, healthy(0, 0)));

            assertThat(driver.awaitPublished()).isTrue();
            assertThat(driver.slices("sick")).hasSize(2);
        }
    }

    private static void awaitHealthy(PublishingDriver driver, int round, int part) {
        driver.api
                .store()
                .awaitObject(
                        PublishingDriver.SLICES,
                        slice ->
                                slice.at("/spec/pool/name").asText().equals("healthy")
                                        && slice.at("/spec/devices/0/attributes/round/int").asInt()
                                                == round
                                        && slice.at("/spec/devices/0/attributes/part/int").asInt()
                                                == part,
                        PublishingDriver.TIMEOUT);
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
