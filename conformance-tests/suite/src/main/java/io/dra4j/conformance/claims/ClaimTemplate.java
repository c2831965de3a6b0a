// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.InvalidObjectException;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;

/**
 * A ResourceClaimTemplate or ResourceClaim of {@code driver.claims}.
 *
 * @param title its kind and name, for messages
 * @param json a claim of it, in version v1
 * @param claim the same claim, in the allocator's form
 */
record ClaimTemplate(String title, ObjectNode json, Claim claim) {

    private static final List<String> ONE_OF = List.of("exactly", "firstAvailable");

    static ClaimTemplate of(JsonNode manifest) {
        String kind = manifest.path("kind").asText();
        String name = manifest.at("/metadata/name").asText();
        String title = kind + " " + name;
        JsonNode spec = manifest.at(kind.equals("ResourceClaim") ? "/spec/devices" : "/spec/spec/devices");
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.putObject("metadata").put("name", name);
        ObjectNode devices = json.withObject("/spec/devices");
        spec.properties()
                .forEach(one -> devices.set(one.getKey(), one.getValue().deepCopy()));
        devices.putArray("requests");
        for (JsonNode request : spec.path("requests")) {
            devices.withArray("requests").add(current(request, title));
        }
        try {
            ClaimTemplate template = new ClaimTemplate(title, json, Claim.of(json));
            template.check();
            return template;
        } catch (InvalidObjectException e) {
            throw new SettingsException("driver.claims: %s: %s".formatted(title, e.getMessage()));
        }
    }

    /** Version v1beta1 has the fields of {@code exactly} in the request itself. */
    private static ObjectNode current(JsonNode request, String title) {
        if (!request.isObject()) {
            throw new SettingsException(
                    "driver.claims: %s has the request %s, which is not an object".formatted(title, request));
        }
        ObjectNode copy = request.deepCopy();
        if (ONE_OF.stream().anyMatch(copy::has)) {
            return copy;
        }
        JsonNode name = copy.remove("name");
        ObjectNode current = JsonNodeFactory.instance.objectNode();
        current.set("name", name);
        current.set("exactly", copy);
        return current;
    }

    private void check() {
        if (claim.requests().isEmpty()) {
            throw new SettingsException(
                    "driver.claims: %s requests no devices: spec.devices.requests is empty".formatted(title));
        }
        for (DeviceRequest request : claim.requests()) {
            for (SubRequest asked : request.alternatives()) {
                if (asked.adminAccess()) {
                    throw new SettingsException(
                            "driver.claims: %s, request %s asks for admin access, which other requirements check: leave it out"
                                    .formatted(title, request.nameOf(asked)));
                }
                requireCompiled(title + ", request " + request.nameOf(asked), asked.selectors());
            }
        }
    }

    /** Checks that the expressions of a class or a request can be compiled. */
    static void requireCompiled(String owner, List<String> expressions) {
        for (String expression : expressions) {
            try {
                DeviceSelector.compile(expression);
            } catch (ExpressionException e) {
                String first =
                        String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                throw new SettingsException("driver.claims: the CEL expression of %s cannot be compiled (%s): %s"
                        .formatted(owner, first, expression));
            }
        }
    }

    List<String> classes() {
        return claim.requests().stream()
                .flatMap(request -> request.alternatives().stream())
                .map(SubRequest::deviceClass)
                .distinct()
                .toList();
    }
}
