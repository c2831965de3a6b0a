// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** The counters that published devices share, as a scheduler keeps account of them. */
final class CounterSets {

    private final Map<String, Long> left; // by counter set and counter

    private CounterSets(Map<String, Long> left) {
        this.left = left;
    }

    /** Returns all counters of slices. */
    static CounterSets of(Collection<JsonNode> slices) {
        Map<String, Long> all = new HashMap<>();
        for (JsonNode slice : slices) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                amounts(set, set.get("name").asText()).forEach(all::put);
            }
        }
        return new CounterSets(all);
    }

    CounterSets copy() {
        return new CounterSets(new HashMap<>(left));
    }

    /** Returns whether a device's counters are left. */
    boolean has(PublishedDevice device) {
        return amounts(device).entrySet().stream()
                .allMatch(counter -> left.get(counter.getKey()) >= counter.getValue());
    }

    void take(PublishedDevice device) {
        amounts(device).forEach((counter, amount) -> left.merge(counter, -amount, Long::sum));
    }

    private static Map<String, Long> amounts(PublishedDevice device) {
        Map<String, Long> amounts = new HashMap<>();
        for (JsonNode set : device.json().get("consumesCounters")) {
            amounts.putAll(amounts(set, set.get("counterSet").asText()));
        }
        return amounts;
    }

    private static Map<String, Long> amounts(JsonNode set, String name) {
        Map<String, Long> amounts = new HashMap<>();
        for (Map.Entry<String, JsonNode> counter : set.get("counters").properties()) {
            String amount = counter.getValue().get("value").asText();
            amounts.put(name + "/" + counter.getKey(), amount(amount));
        }
        return amounts;
    }

    private static long amount(String quantity) {
        return Long.parseLong(quantity.replaceFirst("[GM]i$", "")) * (quantity.endsWith("Gi") ? 1024 : 1);
    }
}
