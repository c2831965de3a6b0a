// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/** Rules for counter sets and for devices that consume from them. */
record CounterRules(FeatureGates gates, SliceLimits limits) {
    private static final int COMPATIBILITY_GROUPS = 2;
    private static final int ALLOCATED_SETS = 2;
    private static final String NO_REFERENCE = "must reference a %s defined in the ResourceSlice sharedCounters";

    private boolean areShared() {
        return gates.enabled(FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY);
    }

    /** Returns the number of counters that a device consumes, across all sets. */
    private static int consumedBy(JsonNode device) {
        return device.path("consumesCounters")
                .valueStream()
                .mapToInt(consumed -> consumed.path("counters").size())
                .sum();
    }

    void checkSets(Field sets) {
        if (!sets.requireAtMost(limits.counterSets())) {
            return;
        }
        int total = 0;
        for (Field set : sets.items()) {
            checkName(set.at("name"));
            checkCounters(set.at("counters"));
            if (areShared()) {
                checkPolicies(set.at("counters"));
            }
            total += set.at("counters").size();
        }
        sets.requireUniqueItems(set -> set.at("name").text());
        sets.requireTotal(total, "shared counters", limits.sharedCounters());
    }

    void checkConsumed(Field device) {
        Field consumed = device.at("consumesCounters");
        if (consumed.requireAtMost(limits.consumedSets())) {
            for (Field entry : consumed.items()) {
                checkName(entry.at("counterSet"));
                checkCounters(entry.at("counters"));
                if (areShared()) {
                    checkSources(entry.at("counters"));
                }
                checkGroups(entry.at("compatibilityGroups"));
            }
            consumed.requireUniqueItems(entry -> entry.at("counterSet").text());
        }
        device.requireTotal(consumedBy(device.value()), "counters", limits.deviceCounters());
    }

    /** Checks what requests may take from the counters of a set (KEP 5941). */
    private void checkPolicies(Field counters) {
        for (String name : counters.keys()) {
            Field counter = counters.key(name);
            if (counter.at("requestPolicy").present()) {
                new CapacityRules(gates)
                        .checkPolicy(counter.at("requestPolicy"), CapacityRules.Quantity.of(counter.at("value")));
            }
        }
    }

    /** Checks that a device consumes a fixed value of a counter, or what its request says (KEP 5941). */
    private void checkSources(Field counters) {
        for (String name : counters.keys()) {
            Field counter = counters.key(name);
            Field capacity = counter.at("valueFrom").at("capacityName");
            boolean fixed = counter.at("value").present();
            boolean requested = counter.at("valueFrom").present();
            String rule = "exactly one of `value` or `valueFrom` is required";
            if (fixed && requested) {
                counter.invalidNull(rule + ", but multiple fields are set");
            } else if (!fixed && !requested) {
                counter.required(rule);
            }
            if (requested && capacity.requireText()) {
                new AttributeKeys(gates.version()).check(capacity.text(), capacity);
            }
        }
    }

    private static void checkGroups(Field groups) {
        if (groups.requireAtMost(COMPATIBILITY_GROUPS)) {
            groups.items().forEach(CounterRules::checkName);
            groups.requireUniqueItems(Field::text);
        }
    }

    /** Checks the consumption that an allocation states (KEP 5941). */
    static void checkSnapshot(Field consumed) {
        if (consumed.requireAtMost(ALLOCATED_SETS)) {
            consumed.items().forEach(entry -> checkName(entry.at("counterSet")));
            consumed.requireUniqueItems(entry -> entry.at("counterSet").text());
        }
    }

    /** Checks the sum of the counters that the devices of a slice consume. */
    void checkAllConsumed(Field devices) {
        int consumed =
                devices.value().valueStream().mapToInt(CounterRules::consumedBy).sum();
        devices.requireTotal(consumed, "counters in devices", limits.sliceCounters());
    }

    /** Checks that the counters that devices consume are in the same slice, as 1.34 requires. */
    static void checkResolved(Field spec) {
        Map<String, JsonNode> sets = new HashMap<>();
        for (JsonNode set : spec.value().path("sharedCounters")) {
            sets.put(set.path("name").asText(), set.path("counters"));
        }
        for (Field device : spec.at("devices").items()) {
            device.at("consumesCounters").items().forEach(entry -> checkResolved(entry, sets));
        }
    }

    private static void checkResolved(Field consumed, Map<String, JsonNode> sets) {
        Field name = consumed.at("counterSet");
        Field counters = consumed.at("counters");
        JsonNode found = sets.get(name.text());
        if (found == null) {
            name.invalid(NO_REFERENCE.formatted("counterSet"));
            return;
        }
        String rule = NO_REFERENCE.formatted("counter");
        counters.keys().forEach(key -> counters.requireThat(found.has(key), key, rule));
    }

    private static void checkName(Field name) {
        if (name.requireText()) {
            name.requireForm(Names::dnsLabelProblems);
        }
    }

    private void checkCounters(Field counters) {
        if (counters.size() == 0) {
            counters.required("");
        }
        if (counters.requireAtMost(limits.setCounters())) {
            counters.keys().forEach(name -> counters.requireForm(name, Names::dnsLabelProblems));
        }
    }
}
