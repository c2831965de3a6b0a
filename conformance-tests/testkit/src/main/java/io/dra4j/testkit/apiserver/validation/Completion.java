// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.validation.FieldType.ListOf;
import io.dra4j.testkit.apiserver.validation.FieldType.MapOf;
import io.dra4j.testkit.apiserver.validation.FieldType.Member;
import io.dra4j.testkit.apiserver.validation.FieldType.Named;
import io.dra4j.testkit.apiserver.validation.FieldType.Struct;
import java.util.Map;

/**
 * Adds the fields that are written even if they were never set, with the zero value of their type.
 *
 * @param types by name
 */
record Completion(Map<String, FieldType> types) {
    void complete(JsonNode value, FieldType type) {
        if (type instanceof ListOf list) {
            value.forEach(item -> complete(item, list.element()));
        } else if (type instanceof MapOf map) {
            value.forEach(item -> complete(item, map.value()));
        } else if (type instanceof Named named && types.containsKey(named.name())) {
            complete(value, types.get(named.name()));
        } else if (type instanceof Struct struct && value instanceof ObjectNode object) {
            struct.members().forEach((name, member) -> complete(object, name, member));
        }
    }

    private void complete(ObjectNode object, String name, Member member) {
        if (object.has(name)) {
            complete(object.get(name), member.type());
        } else if (member.always()) {
            object.set(name, zero(member.type()));
        }
    }

    /** The value of what was never set, also of a null in a list or a map. */
    JsonNode zero(FieldType type) {
        JsonNodeFactory nodes = JsonNodeFactory.instance;
        if (type instanceof Struct) {
            return nodes.objectNode();
        }
        if (!(type instanceof Named named)) {
            return nodes.nullNode();
        }
        return switch (named.name()) {
            case "string" -> nodes.textNode("");
            case "int" -> nodes.numberNode(0);
            case "bool" -> nodes.booleanNode(false);
            case "quantity" -> nodes.textNode("0");
            case "raw", "time" -> nodes.nullNode();
            default -> zero(types.get(named.name()));
        };
    }
}
