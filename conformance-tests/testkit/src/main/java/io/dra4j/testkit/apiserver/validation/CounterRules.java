// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Rules for counter sets and for devices that consume from them. */
final class CounterRules {
    private static final String NO_REFERENCE =
            "must reference a %s defined in the ResourceSlice sharedCounters";

    private final SliceLimits limits;

    CounterRules(SliceLimits limits) {
        this.limits = limits;
    }

    /** The number of counters that a device consumes, over all sets. */
    static int consumedBy(JsonNode device) {
        int sum = 0;
        for (JsonNode consumed : device.path("consumesCounters")) {
            sum += consumed.path("counters").size();
        }
        return sum;
    }

    void checkSets(JsonNode sets, FieldErrors errors) {
        if (sets.size() > limits.counterSets()) {
            errors.tooMany("spec.sharedCounters", sets.size(), limits.counterSets());
        }
        int total = 0;
        Set<String> names = new HashSet<>();
        for (int i = 0; i < sets.size(); i++) {
            String path = "spec.sharedCounters[" + i + "]";
            checkName(sets.get(i).path("name").asText(), path + ".name", names, errors);
            checkCounters(sets.get(i).path("counters"), path + ".counters", errors);
            total += sets.get(i).path("counters").size();
        }
        if (total > limits.sharedCounters()) {
            tooMany(
                    "spec.sharedCounters",
                    total,
                    "shared counters",
                    limits.sharedCounters(),
                    errors);
        }
    }

    void checkConsumed(JsonNode device, String path, FieldErrors errors) {
        JsonNode consumed = device.path("consumesCounters");
        if (consumed.size() > limits.consumedSets()) {
            errors.tooMany(path + ".consumesCounters", consumed.size(), limits.consumedSets());
        }
        Set<String> names = new HashSet<>();
        for (int i = 0; i < consumed.size(); i++) {
            String entry = path + ".consumesCounters[" + i + "]";
            checkName(
                    consumed.get(i).path("counterSet").asText(),
                    entry + ".counterSet",
                    names,
                    errors);
            checkCounters(consumed.get(i).path("counters"), entry + ".counters", errors);
        }
        if (consumedBy(device) > limits.deviceCounters()) {
            tooMany(path, consumedBy(device), "counters", limits.deviceCounters(), errors);
        }
    }

    /** Checks what all devices of a slice consume together. */
    void checkConsumed(JsonNode spec, FieldErrors errors) {
        int consumed = 0;
        for (JsonNode device : spec.path("devices")) {
            consumed += consumedBy(device);
        }
        if (consumed > limits.sliceCounters()) {
            tooMany(
                    "spec.devices",
                    consumed,
                    "counters in devices",
                    limits.sliceCounters(),
                    errors);
        }
    }

    /** Checks that what the devices of a slice consume is in that slice, as 1.34 demands. */
    static void checkResolved(JsonNode spec, FieldErrors errors) {
        Map<String, JsonNode> sets = new HashMap<>();
        spec.path("sharedCounters")
                .forEach(set -> sets.put(set.path("name").asText(), set.path("counters")));
        for (int i = 0; i < spec.path("devices").size(); i++) {
            JsonNode consumed = spec.path("devices").get(i).path("consumesCounters");
            for (int j = 0; j < consumed.size(); j++) {
                String path = "spec.devices[" + i + "].consumesCounters[" + j + "]";
                checkResolved(consumed.get(j), path, sets, errors);
            }
        }
    }

    private static void checkResolved(
            JsonNode consumed, String path, Map<String, JsonNode> sets, FieldErrors errors) {
        String name = consumed.path("counterSet").asText();
        JsonNode there = sets.get(name);
        if (there == null) {
            errors.invalid(path + ".counterSet", name, NO_REFERENCE.formatted("counterSet"));
            return;
        }
        consumed.path("counters")
                .fieldNames()
                .forEachRemaining(
                        counter -> {
                            if (!there.has(counter)) {
                                errors.invalid(
                                        path + ".counters",
                                        counter,
                                        NO_REFERENCE.formatted("counter"));
                            }
                        });
    }

    /** The message of 1.34, in which all limits of counters are sums. */
    private static void tooMany(
            String field, int count, String what, int limit, FieldErrors errors) {
        errors.invalid(field, count, "the total number of " + what + " must not exceed " + limit);
    }

    private static void checkName(String name, String field, Set<String> seen, FieldErrors errors) {
        if (name.isEmpty()) {
            errors.required(field, "");
            return;
        }
        String problem = Names.dnsLabelProblem(name);
        if (!problem.isEmpty()) {
            errors.invalid(field, name, problem);
        }
        if (!seen.add(name)) {
            errors.duplicate(field, name);
        }
    }

    private void checkCounters(JsonNode counters, String field, FieldErrors errors) {
        if (counters.isEmpty()) {
            errors.required(field, "");
        }
        if (counters.size() > limits.setCounters()) {
            errors.tooMany(field, counters.size(), limits.setCounters());
        }
        counters.fieldNames()
                .forEachRemaining(
                        name -> {
                            String problem = Names.dnsLabelProblem(name);
                            if (!problem.isEmpty()) {
                                errors.invalid(field, name, problem);
                            }
                        });
    }
}
