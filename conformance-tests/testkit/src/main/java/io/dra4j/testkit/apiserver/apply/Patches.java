// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.fabric8.zjsonpatch.JsonPatch;
import io.fabric8.zjsonpatch.JsonPatchException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The patch formats: JSON patch (RFC 6902), JSON merge patch (RFC 7396) and strategic merge patch.
 */
public final class Patches {
    /** Server-side apply: no patch of the object as it is, see {@code Registry.apply}. */
    public static final String APPLY = "application/apply-patch+yaml";

    private static final String JSON_PATCH = "application/json-patch+json";
    private static final String MERGE = "application/merge-patch+json";
    private static final String STRATEGIC = "application/strategic-merge-patch+json";

    private Patches() {}

    /** Refuses, with 415, a patch of no known type. */
    public static void requireType(String type) {
        if (!List.of(JSON_PATCH, MERGE, STRATEGIC, APPLY).contains(type)) {
            throw ApiFailure.unsupportedPatch();
        }
    }

    /**
     * Reads the patch in the body of a request by its content type; it may change a given object.
     *
     * @throws ApiFailure 415 for other types
     */
    public static UnaryOperator<ObjectNode> read(String type, Supplier<JsonNode> body) {
        if (!type.equals(JSON_PATCH) && !type.equals(MERGE) && !type.equals(STRATEGIC)) {
            throw ApiFailure.unsupportedPatch();
        }
        JsonNode patch = body.get();
        if (type.equals(JSON_PATCH)) {
            require(patch.isArray(), patch, "[]handlers.jsonPatchOp");
            return object -> operations(object, patch);
        }
        require(patch.isObject(), patch, "map[string]interface {}");
        ObjectNode fields = (ObjectNode) patch;
        return type.equals(MERGE)
                ? object -> merge(object, fields)
                : object -> StrategicMerge.apply(object, fields);
    }

    private static void require(boolean fits, JsonNode patch, String type) {
        if (!fits) {
            String form = patch.isBoolean() ? "bool" : patch.getNodeType().name();
            throw ApiFailure.badRequest(
                    "error decoding patch: json: cannot unmarshal %s into Go value of type %s"
                            .formatted(form.toLowerCase(Locale.ROOT), type));
        }
    }

    private static ObjectNode operations(ObjectNode object, JsonNode patch) {
        try {
            if (JsonPatch.apply(patch, object) instanceof ObjectNode patched) {
                return patched;
            }
            throw ApiFailure.unprocessable();
        } catch (JsonPatchException e) {
            throw ApiFailure.unprocessable();
        }
    }

    /** RFC 7396: null removes, objects merge, everything else replaces. */
    public static ObjectNode merge(ObjectNode target, ObjectNode patch) {
        for (Map.Entry<String, JsonNode> field : patch.properties()) {
            JsonNode value = field.getValue();
            if (value.isNull()) {
                target.remove(field.getKey());
            } else if (value instanceof ObjectNode nested) {
                merge(Json.child(target, field.getKey()), nested);
            } else {
                target.set(field.getKey(), value);
            }
        }
        return target;
    }
}
