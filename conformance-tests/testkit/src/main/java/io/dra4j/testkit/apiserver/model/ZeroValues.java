// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** The values that objects of a typed server have in fields that were never set. */
public final class ZeroValues {
    private static final JsonNode KINDS = JsonTrees.resource(ZeroValues.class, "zero-values.yaml");
    private static final String OPTIONAL = "?";

    private ZeroValues() {}

    /** An object of that kind in which no field was set. */
    public static ObjectNode of(ResourceKind kind) {
        ObjectNode empty = JsonTrees.object().put("kind", kind.kind());
        empty.put("apiVersion", kind.apiVersion()).putObject("metadata");
        fill(kind, empty);
        return empty;
    }

    /** Adds the missing fields, except for a status if the kind has none in this release. */
    public static void fill(ResourceKind kind, ObjectNode object) {
        fill(object, KINDS.path(kind.kind()));
        if (!kind.has(ResourceKind.Trait.STATUS)) {
            object.remove("status");
        }
    }

    private static void fill(JsonNode value, JsonNode zero) {
        if (value instanceof ObjectNode object) {
            for (Map.Entry<String, JsonNode> field : zero.properties()) {
                String name = field.getKey();
                if (name.endsWith(OPTIONAL)) {
                    fill(object.path(name.substring(0, name.length() - 1)), field.getValue());
                } else if (field.getValue().isObject()) {
                    fill(JsonTrees.child(object, name), field.getValue());
                } else if (!object.has(name)) {
                    object.set(name, field.getValue());
                }
            }
        } else if (value.isArray()) {
            value.forEach(element -> fill(element, zero.path(0)));
        }
    }
}
