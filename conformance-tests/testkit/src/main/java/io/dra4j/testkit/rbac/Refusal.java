// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** A request that RBAC does not allow, in Kubernetes' words. */
public final class Refusal {

    public static final int CODE = 403;

    private final ApiAction action;
    private final String message;

    Refusal(ApiAction action, ApiAction lacking, String user) {
        this.action = action;
        this.message = message(action, lacking, user);
    }

    private static String message(ApiAction action, ApiAction lacking, String user) {
        if (!action.isResource()) {
            return "forbidden: User \"%s\" cannot %s path \"%s\""
                    .formatted(user, action.verb(), action.path());
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
        status.put("status", "Failure").put("message", message).put("reason", "Forbidden");
        ObjectNode details = status.putObject("details");
        if (action.isResource()) {
            put(details, "name", action.name());
            put(details, "group", action.group());
            put(details, "kind", action.plural());
        }
        return status.put("code", CODE);
    }

    private static void put(ObjectNode object, String field, String value) {
        if (!value.isEmpty()) {
            object.put(field, value);
        }
    }
}
