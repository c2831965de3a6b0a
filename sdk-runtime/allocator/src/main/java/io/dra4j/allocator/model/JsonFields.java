// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** Reads fields of objects; a field that is absent, or not of the API's type, is empty. */
final class JsonFields {
    private JsonFields() {}

    /** Returns an interned string, which many objects share. */
    static String shared(JsonNode object, String field) {
        return text(object, field).intern();
    }

    static String text(JsonNode object, String field) {
        return object.path(field).asText("");
    }

    static List<String> texts(JsonNode object, String field) {
        return list(object, field, one -> one.asText("").intern());
    }

    static <T> List<T> list(JsonNode object, String field, Function<JsonNode, T> element) {
        JsonNode array = object.path(field);
        return array.isArray() ? array.valueStream().map(element).toList() : List.of();
    }

    /** The values by key, in the order of the object. */
    static <T> Map<String, T> map(JsonNode object, String field, Function<JsonNode, T> value) {
        JsonNode map = object.path(field);
        if (map.isEmpty()) {
            return Map.of();
        }
        Map<String, T> all = new LinkedHashMap<>(2 * map.size());
        map.properties()
                .forEach(one -> all.put(
                        one.getKey().intern(),
                        at(field + "[" + one.getKey() + "]", () -> value.apply(one.getValue()))));
        return all;
    }

    /**
     * Reads a part of an object.
     *
     * @throws InvalidObjectException with the part's name before the problem
     */
    static <T> T at(String part, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (InvalidObjectException e) {
            throw new InvalidObjectException(part + ", " + e.getMessage());
        } catch (IllegalArgumentException e) {
            throw new InvalidObjectException(part + ": " + e.getMessage());
        }
    }
}
