// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.fabric8.zjsonpatch.JsonPatch;
import io.fabric8.zjsonpatch.JsonPatchException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The patch formats: JSON patch (RFC 6902), JSON merge patch (RFC 7396) and strategic merge patch. */
public final class Patches {
    /** Server-side apply, which does not patch the current object: see {@code Registry.apply}. */
    public static final String APPLY = "application/apply-patch+yaml";

    private static final String JSON_PATCH = "application/json-patch+json";
    private static final String MERGE = "application/merge-patch+json";
    private static final String STRATEGIC = "application/strategic-merge-patch+json";

    private static final int MOST_OPERATIONS = 10_000;

    /** The operations on a value in its place, which may be the whole object. */
    private static final Set<String> REPLACING = Set.of("replace", "test");

    private static final Set<String> MOVING = Set.of("move", "copy");

    private Patches() {}

    /** Refuses, with 415, a patch of no known type. */
    public static void requireType(String type) {
        if (!List.of(JSON_PATCH, MERGE, STRATEGIC, APPLY).contains(type)) {
            throw ApiFailure.unsupportedPatch();
        }
    }

    /** A body that is not JSON; only some types of patch say that it is about the patch. */
    public static ApiFailure unreadable(String type, String problem) {
        return ApiFailure.badRequest(type.equals(STRATEGIC) ? problem : "error decoding patch: " + problem);
    }

    /**
     * Applies a patch to an object, which it may change.
     *
     * @param type one of the known content types, except for {@link #APPLY}
     * @throws ApiFailure 400 when the patch does not have the form of its type, 422 when it does not apply
     */
    public static ObjectNode apply(String type, JsonNode patch, ObjectNode object) {
        if (type.equals(JSON_PATCH)) {
            if (patch.isNull()) {
                return object;
            }
            require(patch.isArray(), type, patch, "[]handlers.jsonPatchOp");
            return operations(object, patch);
        }
        if (type.equals(MERGE) && patch.isNull()) {
            throw ApiFailure.badRequest("Invalid JSON Patch");
        }
        boolean fits = patch.isObject() || patch.isNull();
        require(fits, type, patch, "map[string]interface {}");
        ObjectNode fields = patch instanceof ObjectNode sent ? sent : JsonTrees.object();
        return type.equals(MERGE) ? merge(object, fields) : StrategicMerge.apply(object, fields);
    }

    /** The object or, of a strategic patch, the patch itself in the form in which Go prints it. */
    public static String shown(String type, JsonNode patch, JsonNode patched) {
        return type.equals(STRATEGIC) ? goText(patch) : patched.toString();
    }

    private static String goText(JsonNode value) {
        if (value.isObject()) {
            return JsonTrees.names(value).stream()
                    .sorted()
                    .map(name -> name + ":" + goText(value.path(name)))
                    .collect(Collectors.joining(" ", "map[", "]"));
        }
        if (value.isArray()) {
            return value.valueStream().map(Patches::goText).collect(Collectors.joining(" ", "[", "]"));
        }
        return value.isNull() ? "<nil>" : value.asText();
    }

    private static void require(boolean fits, String type, JsonNode patch, String form) {
        if (!fits) {
            throw unreadable(type, mismatch(patch, "value of type " + form));
        }
    }

    private static String mismatch(JsonNode value, String target) {
        String form = value.isBoolean() ? "bool" : value.getNodeType().name();
        return "json: cannot unmarshal %s into Go %s".formatted(form.toLowerCase(Locale.ROOT), target);
    }

    private static ObjectNode operations(ObjectNode object, JsonNode patch) {
        if (patch.size() > MOST_OPERATIONS) {
            throw ApiFailure.tooLarge("The allowed maximum operations in a JSON patch is %d, got %d"
                    .formatted(MOST_OPERATIONS, patch.size()));
        }
        patch.forEach(Patches::requireOperation);
        try {
            if (JsonPatch.apply(patch, object) instanceof ObjectNode patched) {
                return patched;
            }
            throw ApiFailure.unprocessable();
        } catch (JsonPatchException e) {
            throw ApiFailure.unprocessable();
        }
    }

    private static void requireOperation(JsonNode operation) {
        boolean fits = operation.isObject() || operation.isNull();
        require(fits, JSON_PATCH, operation, "handlers.jsonPatchOp");
        for (String field : List.of("op", "path", "from")) {
            JsonNode value = operation.path(field);
            if (operation.hasNonNull(field) && !value.isTextual()) {
                String target = "struct field jsonPatchOp." + field + " of type string";
                throw unreadable(JSON_PATCH, mismatch(value, target));
            }
        }
        String kind = operation.path("op").asText();
        requirePointer(operation.path("path"), REPLACING.contains(kind));
        if (MOVING.contains(kind)) {
            requirePointer(operation.path("from"), false);
        }
    }

    private static void requirePointer(JsonNode pointer, boolean mayBeWhole) {
        boolean isWhole = mayBeWhole && pointer.asText().isEmpty();
        if (pointer.isTextual() && !isWhole && !pointer.asText().startsWith("/")) {
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
                merge(JsonTrees.child(target, field.getKey()), nested);
            } else {
                target.set(field.getKey(), value);
            }
        }
        return target;
    }

    /**
     * Strategic merge patch, as far as clients need it for the served kinds.
     *
     * <p>Maps merge; lists of objects merge by the key of their field in the table below and are
     * replaced otherwise; finalizers are a set. Understood: {@code $patch: delete} and {@code replace},
     * {@code $deleteFromPrimitiveList}. {@code $setElementOrder} is ignored: the order of the server
     * stays, with new elements last. {@code $retainKeys} is refused with 400.
     */
    static final class StrategicMerge {
        private static final Map<String, String> MERGE_KEYS = Map.ofEntries(
                Map.entry("ownerReferences", "uid"),
                Map.entry("conditions", "type"),
                Map.entry("addresses", "type"),
                Map.entry("reservedFor", "uid"),
                Map.entry("containers", "name"),
                Map.entry("initContainers", "name"),
                Map.entry("volumes", "name"),
                Map.entry("volumeMounts", "mountPath"),
                Map.entry("env", "name"),
                Map.entry("ports", "containerPort"),
                Map.entry("resourceClaims", "name"),
                Map.entry("resourceClaimStatuses", "name"),
                Map.entry("podIPs", "ip"),
                Map.entry("imagePullSecrets", "name"));
        private static final Set<String> SETS = Set.of("finalizers");
        private static final String DIRECTIVE = "$patch";
        private static final String DELETE_FROM_SET = "$deleteFromPrimitiveList/";
        private static final String ELEMENT_ORDER = "$setElementOrder/";

        private StrategicMerge() {}

        static ObjectNode apply(ObjectNode target, ObjectNode patch) {
            if (JsonTrees.text(patch, DIRECTIVE).equals("replace")) {
                target.removeAll();
            }
            for (Map.Entry<String, JsonNode> field : patch.properties()) {
                if (field.getKey().startsWith("$")) {
                    directive(target, field.getKey(), field.getValue());
                } else {
                    set(target, field.getKey(), field.getValue());
                }
            }
            return target;
        }

        private static void directive(ObjectNode target, String name, JsonNode value) {
            if (name.startsWith(DELETE_FROM_SET)) {
                JsonNode list = target.path(name.substring(DELETE_FROM_SET.length()));
                value.forEach(gone -> removeWhere(list, gone::equals));
            } else if (!name.startsWith(ELEMENT_ORDER) && !name.equals(DIRECTIVE)) {
                refuse(name);
            }
        }

        private static void refuse(String directive) {
            throw ApiFailure.badRequest(
                    "the embedded API server does not know the strategic merge directive " + directive);
        }

        private static void set(ObjectNode target, String field, JsonNode value) {
            if (value.isNull()) {
                target.remove(field);
            } else if (value instanceof ObjectNode nested) {
                setObject(target, field, nested);
            } else if (value instanceof ArrayNode list && SETS.contains(field)) {
                addMissing(listIn(target, field), list);
            } else if (value instanceof ArrayNode list && MERGE_KEYS.containsKey(field)) {
                mergeList(listIn(target, field), list, MERGE_KEYS.get(field));
            } else {
                value.forEach(element -> JsonTrees.names(element).stream()
                        .filter(name -> name.startsWith("$"))
                        .forEach(StrategicMerge::refuse));
                target.set(field, value);
            }
        }

        private static void setObject(ObjectNode target, String field, ObjectNode nested) {
            if (JsonTrees.text(nested, DIRECTIVE).equals("delete")) {
                target.remove(field);
            } else {
                apply(JsonTrees.child(target, field), nested);
            }
        }

        private static void addMissing(ArrayNode target, ArrayNode values) {
            for (JsonNode value : values) {
                removeWhere(target, value::equals);
                target.add(value);
            }
        }

        private static void mergeList(ArrayNode target, ArrayNode patch, String key) {
            if (replaces(patch)) {
                target.removeAll();
            }
            for (JsonNode element : patch) {
                String id = JsonTrees.text(element, key);
                String directive = JsonTrees.text(element, DIRECTIVE);
                if (directive.equals("delete")) {
                    removeWhere(target, old -> JsonTrees.text(old, key).equals(id));
                } else if (!directive.equals("replace") || element.size() > 1) {
                    apply(elementWith(target, key, id), elementOf(element));
                }
            }
        }

        private static ArrayNode listIn(ObjectNode target, String field) {
            return target.get(field) instanceof ArrayNode list ? list : target.putArray(field);
        }

        private static ObjectNode elementOf(JsonNode element) {
            if (element instanceof ObjectNode object) {
                return object;
            }
            throw ApiFailure.badRequest("an element of a list that merges by key is not an object: " + element);
        }

        /** A list is replaced when one of its elements is the bare directive. */
        private static boolean replaces(ArrayNode patch) {
            return patch.valueStream()
                    .anyMatch(one ->
                            one.size() == 1 && JsonTrees.text(one, DIRECTIVE).equals("replace"));
        }

        private static ObjectNode elementWith(ArrayNode target, String key, String id) {
            return target.valueStream()
                    .filter(element -> JsonTrees.text(element, key).equals(id))
                    .findFirst()
                    .map(ObjectNode.class::cast)
                    .orElseGet(target::addObject);
        }

        private static void removeWhere(JsonNode list, Predicate<JsonNode> unwanted) {
            if (list instanceof ArrayNode array) {
                array.removeIf(unwanted);
            }
        }
    }
}
