// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.Set;

/** Rules for counter sets and for devices that consume from them. */
final class CounterRules {
    private final SliceLimits limits;

    CounterRules(SliceLimits limits) {
        this.limits = limits;
    }

    /** How many counters a device consumes, over all sets. */
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
            errors.tooMany("spec.sharedCounters", total, limits.sharedCounters());
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
            errors.tooMany(path + ".consumesCounters", consumedBy(device), limits.deviceCounters());
        }
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

    private static void checkCounters(JsonNode counters, String field, FieldErrors errors) {
        if (counters.isEmpty()) {
            errors.required(field, "");
        }
        if (counters.size() > SliceLimits.COUNTERS_PER_SET) {
            errors.tooMany(field, counters.size(), SliceLimits.COUNTERS_PER_SET);
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
