// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.List;

/**
 * Brings claims into the form in which typed objects are written: what is empty is left out, but
 * for the fields that are always there.
 */
final class ClaimForm {
    private ClaimForm() {}

    /**
     * Forms the spec of a claim.
     *
     * @param parent has the spec
     */
    static void ofSpec(ObjectNode parent) {
        ObjectNode spec = Json.child(parent, "spec");
        Canonical.dropEmptyLists(spec);
        ObjectNode devices = Json.child(spec, "devices");
        for (JsonNode request : devices.path("requests")) {
            leaveOutEmpty(request.path("exactly"));
            request.path("firstAvailable").forEach(ClaimForm::leaveOutEmpty);
        }
        writeNull(devices, "requests");
    }

    /** Forms the status of a claim. */
    static void ofStatus(ObjectNode claim) {
        if (!(claim.path("status") instanceof ObjectNode status)) {
            return;
        }
        Canonical.dropEmptyLists(status);
        if (status.path("allocation") instanceof ObjectNode allocation) {
            Json.child(allocation, "devices").path("results").forEach(ClaimForm::leaveOutEmpty);
        }
        for (JsonNode device : status.path("devices")) {
            leaveOut(device.path("networkData"), List.of("interfaceName", "hardwareAddress"));
            leaveOut(device, List.of("data"));
            for (JsonNode condition : device.path("conditions")) {
                writeText((ObjectNode) condition, "message");
            }
            writeNull((ObjectNode) device, "conditions");
        }
        status.path("reservedFor").forEach(user -> leaveOut(user, List.of("apiGroup")));
    }

    private static void leaveOutEmpty(JsonNode requestOrResult) {
        for (JsonNode toleration : requestOrResult.path("tolerations")) {
            leaveOut(toleration, List.of("key", "value", "effect"));
        }
        JsonNode capacity = requestOrResult.path("capacity");
        if (capacity instanceof ObjectNode object && object.path("requests").isEmpty()) {
            object.remove("requests");
        }
    }

    private static void leaveOut(JsonNode node, List<String> fields) {
        if (node instanceof ObjectNode object) {
            for (String field : fields) {
                JsonNode value = object.path(field);
                if (value.isNull() || value.isTextual() && value.asText().isEmpty()) {
                    object.remove(field);
                }
            }
        }
    }

    private static void writeNull(ObjectNode object, String list) {
        if (!object.hasNonNull(list)) {
            object.putNull(list);
        }
    }

    private static void writeText(ObjectNode object, String field) {
        if (!object.hasNonNull(field)) {
            object.put(field, "");
        }
    }
}
