// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Strategic merge patch, as far as clients need it for the served kinds.
 *
 * <p>Maps merge; lists of objects merge by the key of their field in the table below and are
 * replaced otherwise; finalizers are a set. Understood: {@code $patch: delete} and {@code replace},
 * {@code $deleteFromPrimitiveList}. {@code $setElementOrder} is ignored: the order of the server
 * stays, with new elements last. {@code $retainKeys} is refused with 400.
 */
final class StrategicMerge {
    private static final Map<String, String> MERGE_KEYS = Map.of(
            "ownerReferences", "uid",
            "conditions", "type",
            "addresses", "type",
            "reservedFor", "uid",
            "containers", "name",
            "initContainers", "name",
            "volumes", "name",
            "env", "name",
            "resourceClaims", "name",
            "imagePullSecrets", "name");
    private static final Set<String> SETS = Set.of("finalizers");
    private static final String DIRECTIVE = "$patch";
    private static final String DELETE_FROM_SET = "$deleteFromPrimitiveList/";
    private static final String ELEMENT_ORDER = "$setElementOrder/";

    private StrategicMerge() {}

    static ObjectNode apply(ObjectNode target, ObjectNode patch) {
        if (Json.text(patch, DIRECTIVE).equals("replace")) {
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
            throw ApiFailure.badRequest("the embedded API server does not know the strategic merge directive " + name);
        }
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
            target.set(field, value);
        }
    }

    private static void setObject(ObjectNode target, String field, ObjectNode nested) {
        if (Json.text(nested, DIRECTIVE).equals("delete")) {
            target.remove(field);
        } else {
            apply(Json.child(target, field), nested);
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
            String id = Json.text(element, key);
            String directive = Json.text(element, DIRECTIVE);
            if (directive.equals("delete")) {
                removeWhere(target, old -> Json.text(old, key).equals(id));
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
        throw ApiFailure.badRequest("an element of a list that merges by key is no object: " + element);
    }

    /** A list is replaced when one of its elements is nothing but the directive. */
    private static boolean replaces(ArrayNode patch) {
        return patch.valueStream()
                .anyMatch(one -> one.size() == 1 && Json.text(one, DIRECTIVE).equals("replace"));
    }

    private static ObjectNode elementWith(ArrayNode target, String key, String id) {
        return target.valueStream()
                .filter(element -> Json.text(element, key).equals(id))
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
