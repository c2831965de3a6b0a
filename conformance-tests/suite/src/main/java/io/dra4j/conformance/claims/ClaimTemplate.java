// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.settings.SettingsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A ResourceClaimTemplate or ResourceClaim of {@code driver.claims}.
 *
 * @param title its kind and name, for messages
 * @param devices its {@code spec.devices}, as version v1 has it
 * @param requests for each request, the alternatives to fulfil it, the preferred one first
 * @param constraints what its devices must have in common
 */
record ClaimTemplate(
        String title, ObjectNode devices, List<List<RequestAlternative>> requests, List<Constraint> constraints) {

    private static final List<String> ONE_OF = List.of("exactly", "firstAvailable");

    static ClaimTemplate of(JsonNode manifest, Map<String, DeviceClass> classes) {
        String kind = manifest.path("kind").asText();
        String title = kind + " " + manifest.at("/metadata/name").asText();
        JsonNode spec = manifest.at(kind.equals("ResourceClaim") ? "/spec/devices" : "/spec/spec/devices");
        ObjectNode devices = JsonNodeFactory.instance.objectNode();
        spec.properties()
                .forEach(one -> devices.set(one.getKey(), one.getValue().deepCopy()));
        List<List<RequestAlternative>> requests = new ArrayList<>();
        devices.remove("requests");
        for (JsonNode request : spec.path("requests")) {
            ObjectNode written = devices.withArray("requests").addObject();
            written.setAll(current(request, title));
            requests.add(alternatives(written, title, classes));
        }
        if (requests.isEmpty()) {
            throw new SettingsException(
                    "driver.claims: %s requests no devices: spec.devices.requests is empty".formatted(title));
        }
        List<Constraint> constraints = Cluster.elements(spec.path("constraints")).stream()
                .map(json -> Constraint.of(json, title))
                .toList();
        return new ClaimTemplate(title, devices, List.copyOf(requests), constraints);
    }

    /** Version v1beta1 has the fields of {@code exactly} in the request itself. */
    private static ObjectNode current(JsonNode request, String title) {
        if (!request.isObject()) {
            throw new SettingsException(
                    "driver.claims: %s has the request %s, which is no object".formatted(title, request));
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

    private static List<RequestAlternative> alternatives(
            JsonNode request, String title, Map<String, DeviceClass> classes) {
        String name = request.path("name").asText();
        if (request.has("exactly")) {
            return List.of(RequestAlternative.of(name, request.path("exactly"), title, classes));
        }
        return Cluster.elements(request.path("firstAvailable")).stream()
                .map(sub -> RequestAlternative.of(name + "/" + sub.path("name").asText(), sub, title, classes))
                .toList();
    }

    /** The configurations of the claim itself. */
    List<JsonNode> configs() {
        return Cluster.elements(devices.path("config"));
    }
}
