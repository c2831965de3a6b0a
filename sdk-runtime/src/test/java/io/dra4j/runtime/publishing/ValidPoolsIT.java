// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGate;
import io.dra4j.runtime.internal.publish.plan.RandomPools;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.Requests;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The publisher sends nothing of random pools that the embedded server refuses. */
@Tag("slow")
@Tag("counts")
class ValidPoolsIT {

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 60 : 6;
    private static final int POOLS = 20;
    private static final int[] SIZES = {63, 64, 65, 127, 128, 129};

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void poolsAtTheLimitsArePublishedWithoutAnErrorOfTheServer(long seed) throws Exception {
        Random random = new Random(seed);
        RandomPools pools = new RandomPools(random);
        List<Pool> inventory = List.of();
        int devices = 0;
        try (EmbeddedApiServer api = EmbeddedApiServer.builder()
                        .node(PublishingDriver.NODE)
                        .featureGate(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true)
                        .start();
                PublishingDriver driver = PublishingDriver.start(api)) {
            for (int round = 0; round < ROUNDS; round++) {
                inventory = inventory(random, pools);
                driver.publish(inventory);

                assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();
                assertThat(driver.refused()).isEmpty();
                assertThat(published(api)).isEqualTo(wanted(inventory));
                devices += wanted(inventory).size();
            }
            assertThat(driver.problems).isEmpty();
            System.out.printf(
                    "limits: seed %d, %d pools, %d devices, %d requests, none refused%n",
                    seed, ROUNDS * POOLS, devices, driver.proxy.requests().size());
            assertRestartWritesNothing(api, inventory);
        }
    }

    /** The server keeps a pool unchanged: there is nothing to write again. */
    private static void assertRestartWritesNothing(EmbeddedApiServer api, List<Pool> inventory) throws Exception {
        try (PublishingDriver again = PublishingDriver.start(api, inventory.toArray(Pool[]::new))) {
            assertThat(again.awaitPublished()).isTrue();
            assertThat(again.proxy.requests(Requests.writes(PublishingDriver.SLICES)))
                    .isEmpty();
        }
    }

    private static List<Pool> inventory(Random random, RandomPools pools) {
        List<Pool> inventory = new ArrayList<>();
        for (int i = 0; i < POOLS; i++) {
            String name = "pool-" + i + "/" + "n.".repeat(i * 6) + "n";
            boolean large = random.nextInt(25) == 0;
            inventory.add(pools.next(name, large ? SIZES[random.nextInt(6)] : random.nextInt(4)));
        }
        return inventory;
    }

    /** The parts of each device, in numbers. */
    private static Map<String, List<Integer>> published(EmbeddedApiServer api) {
        Map<String, List<Integer>> devices = new HashMap<>();
        for (JsonNode slice : api.store().list(PublishingDriver.SLICES)) {
            String pool = slice.at("/spec/pool/name").asText();
            for (JsonNode device : slice.at("/spec/devices")) {
                devices.put(
                        pool + " " + device.path("name").asText(),
                        List.of(
                                device.path("attributes").size(),
                                device.path("capacity").size(),
                                device.path("consumesCounters").size(),
                                device.path("taints").size(),
                                device.path("bindingConditions").size(),
                                device.findParents("requestPolicy").size()));
            }
        }
        return devices;
    }

    private static Map<String, List<Integer>> wanted(List<Pool> inventory) {
        Map<String, List<Integer>> devices = new HashMap<>();
        for (Pool pool : inventory) {
            for (Device device : pool.devices()) {
                devices.put(
                        pool.name() + " " + device.name(),
                        List.of(
                                device.attributes().size(),
                                device.capacities().size(),
                                device.consumesCounters().size(),
                                device.taints().size(),
                                device.binding().conditions().size(),
                                (int) device.capacities().values().stream()
                                        .filter(c -> c.requestPolicy() != null)
                                        .count()));
            }
        }
        return devices;
    }
}
