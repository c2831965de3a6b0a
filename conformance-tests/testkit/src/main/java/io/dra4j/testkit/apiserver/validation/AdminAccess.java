// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.StoredObject;

/** Gives admin access to devices to claims in namespaces with a label, and to no others. */
record AdminAccess(ResourceKinds kinds, ObjectStore store) {
    private static final String LABEL = "resource.kubernetes.io/admin-access";

    /**
     * Checks a new claim, or a new template, whose messages have the same paths.
     *
     * @param claimSpec the claim's spec, or the one in the template
     */
    void check(ObjectNode object, JsonNode claimSpec, FieldErrors errors) {
        JsonNode requests = Json.at(claimSpec, "devices", "requests");
        for (int i = 0; i < requests.size(); i++) {
            if (wanted(requests.path(i).path("exactly"))) {
                require(object, "spec.devices.requests[" + i + "].adminAccess", errors);
                return;
            }
        }
    }

    /** Checks a status, unless the claim has admin access already. */
    void checkStatus(ObjectNode claim, ObjectNode old, FieldErrors errors) {
        JsonNode results = results(claim);
        boolean granted = results(old).valueStream().anyMatch(AdminAccess::wanted);
        for (int i = 0; i < results.size() && !granted; i++) {
            if (wanted(results.path(i))) {
                require(claim, "status.allocation.devices.results[" + i + "].adminAccess", errors);
                return;
            }
        }
    }

    private static JsonNode results(JsonNode claim) {
        return Json.at(claim, "status", "allocation", "devices", "results");
    }

    private static boolean wanted(JsonNode requestOrResult) {
        return requestOrResult.path("adminAccess").asBoolean();
    }

    private void require(ObjectNode object, String field, FieldErrors errors) {
        String name = Json.text(object, "metadata", "namespace");
        StoredObject namespace =
                store.find(kinds.namespaces(), kinds.namespaces().key("", name));
        if (namespace == null
                || !Json.text(namespace.json(), "metadata", "labels", LABEL).equals("true")) {
            errors.forbidden(
                    field,
                    "admin access to devices requires the `" + LABEL + ": true` label on the containing namespace");
        }
    }
}
