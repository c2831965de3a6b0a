// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The merge of objects under server-side apply, by field, and so the fields that can have separate owners.
 *
 * <p>Objects merge field by field; lists are owned as a whole, except for those that merge by key or are sets. A place
 * is the path of field names, without list elements.
 *
 * @see <a href="https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy"> Merge strategy</a>
 */
final class MergeRules {
    static final String ROOT = "";

    private static final Map<String, List<String>> KEYS = Map.of(
            "metadata.ownerReferences", List.of("uid"),
            "spec.metadata.ownerReferences", List.of("uid"),
            "status.addresses", List.of("type"),
            "status.conditions", List.of("type"),
            "status.reservedFor", List.of("uid"),
            "status.devices", List.of("device", "driver", "pool", "shareID"),
            "status.devices.conditions", List.of("type"));
    private static final Set<String> SETS = Set.of("metadata.finalizers", "spec.metadata.finalizers", "spec.podCIDRs");
    private static final Set<String> ATOMIC_OBJECTS = Set.of(
            "spec.nodeSelector",
            "status.allocation.nodeSelector",
            "status.devices.data",
            "involvedObject",
            "regarding",
            "related");

    /** Stands for a value whose fields or elements have their own paths. */
    private static final JsonNode PRESENT = JsonTrees.object().path("present");

    private MergeRules() {}

    private static String in(String place, String field) {
        return place.isEmpty() ? field : place + "." + field;
    }

    private static boolean isGranular(JsonNode value, String place) {
        return value.isObject() && !ATOMIC_OBJECTS.contains(place);
    }

    private static boolean hasElements(JsonNode value, String place) {
        return value.isArray() && (KEYS.containsKey(place) || SETS.contains(place));
    }

    /** The step that names an element; keys that it does not have are left out. */
    private static String step(JsonNode element, String place) {
        if (SETS.contains(place)) {
            return "v:" + element;
        }
        ObjectNode keys = JsonTrees.object();
        for (String key : KEYS.getOrDefault(place, List.of())) {
            if (element.hasNonNull(key)) {
                keys.set(key, element.get(key));
            }
        }
        if (keys.isEmpty()) {
            throw ApiFailure.badRequest("an element of the list ." + place + " has none of its keys");
        }
        return "k:" + keys;
    }

    /** All fields of an object that an applier of it can own, with their values. */
    static Map<List<String>, JsonNode> fields(JsonNode object) {
        Map<List<String>, JsonNode> fields = new LinkedHashMap<>();
        collect(object, ROOT, List.of(), false, fields);
        return fields;
    }

    /**
     * @param containers whether objects and lists also count: they are new with their first field or element, and gone
     *     with the last
     */
    private static void collect(
            JsonNode value, String place, List<String> path, boolean containers, Map<List<String>, JsonNode> fields) {
        boolean granular = isGranular(value, place);
        boolean parts = granular || hasElements(value, place);
        boolean counts = containers ? !isNothing(value) : !parts || granular && value.isEmpty();
        if (!path.isEmpty() && counts) {
            fields.putIfAbsent(path, parts && containers ? PRESENT : value);
        }
        if (granular) {
            for (Map.Entry<String, JsonNode> field : value.properties()) {
                List<String> inside = FieldSet.append(path, "f:" + field.getKey());
                String at = in(place, field.getKey());
                collect(field.getValue(), at, inside, containers, fields);
            }
        } else if (parts) {
            for (JsonNode element : value) {
                List<String> inside = FieldSet.append(path, step(element, place));
                fields.put(inside, PRESENT);
                if (element.isObject()) {
                    collect(element, place, inside, containers, fields);
                }
            }
        }
    }

    /** An empty list is not stored. */
    private static boolean isNothing(JsonNode value) {
        return value.isNull() || value.isArray() && value.isEmpty();
    }

    /** Returns the live value with the fields of the applied one; the live one may be modified. */
    static JsonNode merge(JsonNode live, JsonNode applied, String place) {
        if (live instanceof ObjectNode object && isGranular(applied, place)) {
            for (Map.Entry<String, JsonNode> field : applied.properties()) {
                String name = field.getKey();
                object.set(name, merge(object.path(name), field.getValue(), in(place, name)));
            }
            return object;
        }
        if (live instanceof ArrayNode list && hasElements(applied, place)) {
            applied.forEach(element -> mergeElement(list, element, place));
            return list;
        }
        return applied.deepCopy();
    }

    private static void mergeElement(ArrayNode list, JsonNode element, String place) {
        String step = step(element, place);
        for (int i = 0; i < list.size(); i++) {
            if (step(list.get(i), place).equals(step)) {
                list.set(i, element.isObject() ? merge(list.get(i), element, place) : element);
                return;
            }
        }
        list.add(element.deepCopy());
    }

    /** Removes fields, and what is empty without them. */
    static void remove(JsonNode value, FieldSet unwanted) {
        remove(value, ROOT, List.of(), unwanted);
    }

    private static void remove(JsonNode value, String place, List<String> path, FieldSet unwanted) {
        if (value instanceof ObjectNode object && isGranular(value, place)) {
            for (String name : JsonTrees.names(object)) {
                List<String> inside = FieldSet.append(path, "f:" + name);
                if (isGone(object.get(name), in(place, name), inside, unwanted)) {
                    object.remove(name);
                }
            }
        } else if (value instanceof ArrayNode list && hasElements(value, place)) {
            list.removeIf(element -> {
                List<String> inside = FieldSet.append(path, step(element, place));
                return isGone(element, place, inside, unwanted);
            });
        }
    }

    private static boolean isGone(JsonNode value, String place, List<String> path, FieldSet unwanted) {
        if (unwanted.contains(path)) {
            return true;
        }
        boolean wasEmpty = value.isEmpty();
        remove(value, place, path, unwanted);
        return value.isContainerNode() && value.isEmpty() && !wasEmpty;
    }

    static Difference difference(JsonNode before, JsonNode after) {
        Map<List<String>, JsonNode> old = new LinkedHashMap<>();
        collect(before, ROOT, List.of(), true, old);
        Map<List<String>, JsonNode> now = new LinkedHashMap<>();
        collect(after, ROOT, List.of(), true, now);
        FieldSet current = FieldSet.of(now.keySet());
        return new Difference(
                current.where(path -> !now.get(path).equals(old.get(path))),
                FieldSet.of(old.keySet()).minus(current));
    }

    /** The fields that are new or have another value, and those that are gone. */
    record Difference(FieldSet changed, FieldSet removed) {}
}
