// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * A request that RBAC or an admission policy does not allow, in Kubernetes' words.
 *
 * <p>The verb for an entry of a status is checked while the claim is validated, so that its absence is a validation
 * error (422, {@code Invalid}); any other is refused immediately (403, {@code Forbidden}). An admission policy chooses
 * its reason; by default it is {@code Invalid}.
 */
public record Refusal(ApiAction action, String reason, String kind, String message) {

    /** The codes of the reasons that a policy may give; any other has that of Invalid. */
    private static final Map<String, Integer> CODES =
            Map.of("Unauthorized", 401, "Forbidden", 403, "RequestEntityTooLarge", 413, "Invalid", 422);

    /** A refusal because a permission is missing. */
    static Refusal lacking(ApiAction action, ApiAction lacking, String user) {
        String forbidden = message(action, lacking, user);
        return lacking.equals(action)
                ? new Refusal(action, "Forbidden", action.plural(), forbidden)
                : new Refusal(
                        action,
                        "Invalid",
                        "ResourceClaim",
                        "ResourceClaim.%s \"%s\" is invalid: status.devices: Forbidden: %s"
                                .formatted(action.group(), action.name(), forbidden));
    }

    /** A refusal by an admission policy. */
    static Refusal byPolicy(ApiAction action, AdmissionPolicy policy, AdmissionPolicy.Denied denied, JsonNode object) {
        String message = "%s \"%s\" is forbidden: ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s"
                .formatted(
                        action.qualified(),
                        object.at("/metadata/name").asText("Unknown"),
                        policy.name(),
                        policy.bindingName(),
                        denied.message());
        return new Refusal(action, denied.reason(), action.plural(), message);
    }

    /** The status of the HTTP response. */
    public int code() {
        return CODES.getOrDefault(reason, CODES.get("Invalid"));
    }

    private static String message(ApiAction action, ApiAction lacking, String user) {
        if (!action.isResource()) {
            return "forbidden: User \"%s\" cannot %s path \"%s\"".formatted(user, action.verb(), action.path());
        }
        return "%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s"
                .formatted(
                        action.qualified(),
                        action.name().isEmpty() ? "" : " \"" + action.name() + "\"",
                        user,
                        lacking.verb(),
                        lacking.resource(),
                        lacking.group(),
                        lacking.namespace().isEmpty()
                                ? "at the cluster scope"
                                : "in the namespace \"" + lacking.namespace() + "\"");
    }

    /** The Status with which an API server refuses. */
    public ObjectNode status() {
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.put("kind", "Status").put("apiVersion", "v1").putObject("metadata");
        status.put("status", "Failure").put("message", message).put("reason", reason);
        ObjectNode details = status.putObject("details");
        if (action.isResource()) {
            put(details, "name", action.name());
            put(details, "group", action.group());
            put(details, "kind", kind);
        }
        return status.put("code", code());
    }

    private static void put(ObjectNode object, String field, String value) {
        if (!value.isEmpty()) {
            object.put(field, value);
        }
    }
}
