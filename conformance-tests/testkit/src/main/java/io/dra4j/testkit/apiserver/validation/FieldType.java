// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import java.util.LinkedHashMap;
import java.util.Map;

/** The type of a field in {@code fields.yaml}. */
sealed interface FieldType {
    /** A value without fields, or a reference to a type by its name. */
    record Named(String name) implements FieldType {}

    record ListOf(FieldType element) implements FieldType {}

    record MapOf(FieldType value) implements FieldType {}

    record Struct(Map<String, Member> members) implements FieldType {}

    /** A field of an object, which may always be written, even if it was never set. */
    record Member(FieldType type, boolean always) {}

    /** A map when its only field is a star. */
    String ANY_KEY = "*";

    /** Reads a type without the fields of other releases. */
    static FieldType of(JsonNode node, KubernetesVersion version) {
        if (node instanceof ArrayNode list) {
            return new ListOf(of(list.get(0), version));
        }
        if (!(node instanceof ObjectNode fields)) {
            return new Named(node.asText());
        }
        if (fields.has(ANY_KEY)) {
            return new MapOf(of(fields.get(ANY_KEY), version));
        }
        Map<String, Member> members = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : fields.properties()) {
            String[] name = field.getKey().split("@");
            if (name.length == 1 || exists(name[1], version)) {
                boolean always = name[0].endsWith("!");
                String bare = always ? name[0].substring(0, name[0].length() - 1) : name[0];
                members.put(bare, new Member(of(field.getValue(), version), always));
            }
        }
        return new Struct(members);
    }

    private static boolean exists(String range, KubernetesVersion version) {
        String[] ends = range.split("-");
        return version.atLeast(KubernetesVersion.parse(ends[0]))
                && (ends.length == 1 || KubernetesVersion.parse(ends[1]).atLeast(version));
    }
}
