// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.claims.Allocator;
import io.dra4j.conformance.claims.Allotment;
import io.dra4j.conformance.claims.Candidate;
import io.dra4j.conformance.claims.ClaimTemplates;
import io.dra4j.testkit.settings.SettingsException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The published devices, as claims of the settings' shape can get it.
 *
 * @param devices in the order in which a scheduler looks at them
 * @param counters what the counters of the pools have
 */
record ShapedDevices(List<Candidate> devices, Map<String, BigDecimal> counters) {

    /** Those of complete pools. */
    static ShapedDevices of(String driver, Map<String, List<JsonNode>> pools) {
        List<Candidate> devices = new ArrayList<>();
        Map<String, BigDecimal> counters = new HashMap<>();
        for (Map.Entry<String, List<JsonNode>> one : pools.entrySet()) {
            String pool = one.getKey();
            List<JsonNode> slices = one.getValue().stream()
                    .sorted(Comparator.comparing(Pools::name))
                    .toList();
            Pools.devicesOf(slices).forEach(json -> devices.add(new Candidate(driver, pool, json)));
            for (JsonNode slice : slices) {
                for (JsonNode set : slice.at("/spec/sharedCounters")) {
                    counters.putAll(
                            Allocator.counters(pool + "/" + set.path("name").asText(), set));
                }
            }
        }
        return new ShapedDevices(devices, counters);
    }

    /** The first device of each claim that there is room for. */
    List<PublishedDevice> usable(ClaimTemplates templates) {
        return new Allocator(devices, counters)
                .allocate(templates).stream().map(ShapedDevices::first).toList();
    }

    private static PublishedDevice first(Allotment allotment) {
        Candidate first = allotment.devices().get(0);
        return new PublishedDevice(first.pool(), first.name(), first.json(), allotment);
    }

    /** Finds that each template can get devices. */
    void requireRoom(ClaimTemplates templates) {
        List<String> complaints = new Allocator(devices, counters).complaints(templates);
        if (!complaints.isEmpty()) {
            throw new SettingsException("driver.claims: " + String.join("; ", complaints));
        }
    }
}
