// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The variable that expressions see of a device. */
final class DeviceVariable {
    private DeviceVariable() {}

    /**
     * @throws IllegalArgumentException if an attribute has no value that CEL knows
     */
    static Map<String, Object> of(String driver, JsonNode device) {
        return Map.of(
                "driver",
                driver,
                "attributes",
                byDomain(driver, device.path("attributes"), DeviceVariable::attribute),
                "capacity",
                byDomain(
                        driver,
                        device.path("capacity"),
                        one -> Quantity.parse(one.path("value").asText())),
                "allowMultipleAllocations",
                device.path("allowMultipleAllocations").asBoolean());
    }

    /** A name without a domain is in that of the driver. */
    private static Map<String, Map<String, Object>> byDomain(
            String driver, JsonNode named, Function<JsonNode, Object> value) {
        Map<String, Map<String, Object>> domains = new HashMap<>();
        for (Map.Entry<String, JsonNode> one : named.properties()) {
            String name = one.getKey();
            int slash = name.indexOf('/');
            domains.computeIfAbsent(
                            slash < 0 ? driver : name.substring(0, slash), key -> new HashMap<>())
                    .put(name.substring(slash + 1), value.apply(one.getValue()));
        }
        return domains;
    }

    private static Object attribute(JsonNode attribute) {
        for (Map.Entry<String, JsonNode> typed : attribute.properties()) {
            JsonNode value = typed.getValue();
            return switch (typed.getKey()) {
                case "bool", "int", "string", "version" -> scalar(typed.getKey(), value);
                case "bools", "ints", "strings", "versions" -> {
                    String type = typed.getKey().substring(0, typed.getKey().length() - 1);
                    List<Object> list = new ArrayList<>();
                    value.forEach(one -> list.add(scalar(type, one)));
                    yield list;
                }
                default -> throw unsupported(attribute);
            };
        }
        throw unsupported(attribute);
    }

    private static IllegalArgumentException unsupported(JsonNode attribute) {
        return new IllegalArgumentException("unsupported attribute value " + attribute);
    }

    private static Object scalar(String type, JsonNode value) {
        return switch (type) {
            case "bool" -> value.asBoolean();
            case "int" -> value.asLong();
            case "version" -> SemanticVersion.parse(value.asText());
            default -> value.asText();
        };
    }
}
