// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;
import java.util.Optional;

/**
 * A condition that the devices of a claim must have in common, or must not.
 *
 * @param requests those that it is for; empty means all
 * @param attribute the qualified name of the attribute
 * @param distinct whether the values must differ
 */
record Constraint(List<String> requests, String attribute, boolean distinct) {

    static Constraint of(JsonNode json, String claim) {
        List<String> requests = Cluster.elements(json.path("requests")).stream()
                .map(JsonNode::asText)
                .toList();
        for (String kind : List.of("matchAttribute", "distinctAttribute")) {
            if (json.has(kind)) {
                return new Constraint(requests, json.path(kind).asText(), kind.equals("distinctAttribute"));
            }
        }
        throw new SettingsException("driver.claims: %s has a constraint without matchAttribute or distinctAttribute: %s"
                .formatted(claim, json));
    }

    /** Returns whether a device may join others that a claim gets. */
    boolean allows(String request, Candidate device, List<RequestAlternative.Pick> picks) {
        if (!isFor(request)) {
            return true;
        }
        Optional<JsonNode> value = device.attribute(attribute);
        return value.isPresent()
                && picks.stream()
                        .filter(pick -> isFor(pick.alternative().name()))
                        .map(pick -> pick.device().attribute(attribute).orElseThrow())
                        .allMatch(other -> other.equals(value.get()) != distinct);
    }

    private boolean isFor(String request) {
        return requests.isEmpty() || requests.contains(request) || requests.contains(request.split("/")[0]);
    }
}
