// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * The value of a device's attribute.
 *
 * @param values the value, or those of the list: {@code Boolean}, {@code Long} or {@code String}
 */
public record AttributeValue(Type type, boolean list, List<Object> values) {

    /** The types of the API; a type that a later release adds is unknown. */
    public enum Type {
        BOOL,
        INT,
        STRING,
        VERSION,
        UNKNOWN
    }

    private static final Map<String, Type> TYPES = Map.of(
            "bool", Type.BOOL,
            "int", Type.INT,
            "string", Type.STRING,
            "version", Type.VERSION);

    private static final AttributeValue UNKNOWN = new AttributeValue(Type.UNKNOWN, false, List.of());

    static AttributeValue of(JsonNode json) {
        for (Map.Entry<String, JsonNode> one : json.properties()) {
            boolean list = one.getKey().endsWith("s");
            String name = list ? one.getKey().substring(0, one.getKey().length() - 1) : one.getKey();
            Type type = TYPES.get(name);
            if (type != null) {
                return list
                        ? new AttributeValue(
                                type, true, JsonFields.list(json, one.getKey(), value -> read(type, value)))
                        : new AttributeValue(type, false, List.of(read(type, one.getValue())));
            }
        }
        return UNKNOWN;
    }

    private static Object read(Type type, JsonNode value) {
        return switch (type) {
            case BOOL -> value.asBoolean();
            case INT -> value.asLong();
            default -> value.asText().intern();
        };
    }

    public boolean isScalar() {
        return !list && type != Type.UNKNOWN;
    }

    public boolean isSame(AttributeValue other) {
        return isScalar() && equals(other);
    }

    /** Returns the values that this and another have in common; values of two types have none. */
    public AttributeValue common(AttributeValue other) {
        List<Object> common = type == other.type
                ? values.stream().filter(other.values::contains).toList()
                : List.of();
        return new AttributeValue(type, list, common);
    }

    @Override
    public String toString() {
        return list || values.isEmpty() ? values.toString() : values.get(0).toString();
    }
}
