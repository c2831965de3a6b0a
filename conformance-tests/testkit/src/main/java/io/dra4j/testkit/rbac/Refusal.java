// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A request that RBAC does not allow, in Kubernetes' words.
 *
 * <p>The verb of an entry of a status is asked for while the claim is validated, so that its lack
 * is a validation error (422, {@code Invalid}); any other is refused at once (403, {@code
 * Forbidden}).
 */
public final class Refusal {

    private static final int FORBIDDEN = 403;
    private static final int INVALID = 422;

    private final ApiAction action;
    private final boolean isOfValidation;
    private final String message;

    Refusal(ApiAction action, ApiAction lacking, String user) {
        this.action = action;
        this.isOfValidation = !lacking.equals(action);
        String forbidden = message(action, lacking, user);
        this.message = isOfValidation
                ? "ResourceClaim.%s \"%s\" is invalid: status.devices: Forbidden: %s"
                        .formatted(action.group(), action.name(), forbidden)
                : forbidden;
    }

    /** The status of the HTTP response. */
    public int code() {
        return isOfValidation ? INVALID : FORBIDDEN;
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

    public String message() {
        return message;
    }

    /** The Status with which an API server refuses. */
    public ObjectNode status() {
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.put("kind", "Status").put("apiVersion", "v1").putObject("metadata");
        status.put("status", "Failure").put("message", message).put("reason", isOfValidation ? "Invalid" : "Forbidden");
        ObjectNode details = status.putObject("details");
        if (action.isResource()) {
            put(details, "name", action.name());
            put(details, "group", action.group());
            put(details, "kind", isOfValidation ? "ResourceClaim" : action.plural());
        }
        return status.put("code", code());
    }

    private static void put(ObjectNode object, String field, String value) {
        if (!value.isEmpty()) {
            object.put(field, value);
        }
    }
}
