// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Changes of several slices at once, as a scheduler that watches sees them, step by step. */
class SliceHistoryIT {

    private static final int DEVICES = 130;

    private final List<Map<String, String>> inventories = new ArrayList<>();
    private DevicesUnderTest gpus;
    private SeenPool pool;

    @BeforeEach
    void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        pool = gpus.awaitPool(p -> p.settled(DEVICES));
        inventories.add(pool.faults());
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    /** Breaks devices, or lets them vanish, and waits until it is published. */
    private void change(Map<String, String> faults) throws Exception {
        Map<String, String> wanted = new TreeMap<>(inventories.get(0));
        List<String> lines = new ArrayList<>();
        faults.forEach(
                (device, reason) -> {
                    if (reason.equals("absent")) {
                        wanted.remove(device);
                        lines.add(device + " absent");
                    } else {
                        wanted.put(device, reason);
                        lines.add(device + " NoSchedule " + reason);
                    }
                });
        inventories.add(wanted);
        gpus.faults(lines.toArray(String[]::new));
        pool = gpus.awaitPool(p -> p.settled(wanted.size()) && p.faults().equals(wanted));
    }

    @Test
    @Tag("DRA-SLICE-05")
    void noCompletePoolEverMixesWhatIsWithWhatWas() throws Exception {
        long before = pool.generation();
        int number = gpus.driver.proxy.lastNumber();

        change(Map.of("gpu-0", "hot", "gpu-70", "absent"));
        assertThat(pool.generation()).as("two slices changed").isEqualTo(before + 1);
        change(Map.of("gpu-0", "hot", "gpu-70", "cold", "gpu-129", "odd"));
        change(Map.of("gpu-1", "absent", "gpu-71", "absent"));
        change(Map.of("gpu-64", "hot"));
        change(Map.of());

        List<Map<String, String>> seen = completePools(new SliceTraffic(gpus.driver.api).history());
        assertThat(seen).as(gpus.driver.proxy.log()).containsExactlyElementsOf(inventories);
        System.out.printf(
                "DRA-SLICE-05: %d inventories of %d devices, all that a scheduler ever saw,"
                        + " by %d writes%n%s%n",
                inventories.size(),
                DEVICES,
                gpus.writesAfter(number).size(),
                gpus.driver.proxy.log());
    }

    /** What a scheduler that takes only complete pools sees after each event, without repeats. */
    private static List<Map<String, String>> completePools(List<JsonNode> history) {
        Map<String, JsonNode> cluster = new HashMap<>();
        List<Map<String, String>> seen = new ArrayList<>();
        for (JsonNode event : history) {
            JsonNode slice = event.path("object");
            String name = slice.at("/metadata/name").asText();
            if (event.path("type").asText().equals("DELETED")) {
                cluster.remove(name);
            } else {
                cluster.put(name, slice);
            }
            SeenPool now = SeenPool.of(cluster.values());
            if (now.complete() && (seen.isEmpty() || !last(seen).equals(now.faults()))) {
                seen.add(now.faults());
            }
        }
        return seen;
    }

    private static Map<String, String> last(List<Map<String, String>> seen) {
        return seen.get(seen.size() - 1);
    }
}
