// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Converts objects between the stored version and those that are served.
 *
 * <p>The versions of a kind have the same fields. Events have two groups with different names for the same fields, and
 * are stored in the core group's form.
 */
public final class Conversion {
    private static final Map<String, String> EVENT_FIELDS = Map.of(
            "involvedObject", "regarding",
            "message", "note",
            "reportingComponent", "reportingController",
            "source", "deprecatedSource",
            "firstTimestamp", "deprecatedFirstTimestamp",
            "lastTimestamp", "deprecatedLastTimestamp",
            "count", "deprecatedCount");

    /** Fields of events that the newer group leaves out when they are empty. */
    private static final List<String> OPTIONAL = List.of("reportingController", "reportingInstance");

    private Conversion() {}

    private static boolean isEvent(ResourceKind kind) {
        return kind.group().equals(ResourceKinds.EVENTS);
    }

    /** The object as a client of that kind sees it; shares the values of the stored one. */
    public static ObjectNode toServed(ResourceKind served, ObjectNode stored) {
        ObjectNode object = JsonTrees.object();
        stored.properties()
                .forEach(one -> object.set(
                        isEvent(served) ? EVENT_FIELDS.getOrDefault(one.getKey(), one.getKey()) : one.getKey(),
                        one.getValue()));
        if (isEvent(served)) {
            object.remove(OPTIONAL.stream()
                    .filter(one -> JsonTrees.text(object, one).isEmpty())
                    .toList());
        }
        return object.put("apiVersion", served.apiVersion());
    }

    /** The object as it is stored. */
    public static ObjectNode toStored(ResourceKind served, ResourceKind stored, ObjectNode object) {
        ObjectNode converted = JsonTrees.object();
        for (Map.Entry<String, JsonNode> field : object.properties()) {
            String name = field.getKey();
            converted.set(isEvent(served) ? storedEventField(name) : name, field.getValue());
        }
        return converted.put("apiVersion", stored.apiVersion());
    }

    private static String storedEventField(String served) {
        Map<String, String> names = new LinkedHashMap<>();
        EVENT_FIELDS.forEach((stored, name) -> names.put(name, stored));
        return names.getOrDefault(served, served);
    }

    /** The field of the stored object that a client of that kind means. */
    public static String storedPath(ResourceKind served, String path) {
        int end = (path + ".").indexOf('.');
        return isEvent(served) ? storedEventField(path.substring(0, end)) + path.substring(end) : path;
    }
}
