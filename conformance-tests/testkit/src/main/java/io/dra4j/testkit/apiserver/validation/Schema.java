// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.validation.FieldType.ListOf;
import io.dra4j.testkit.apiserver.validation.FieldType.MapOf;
import io.dra4j.testkit.apiserver.validation.FieldType.Member;
import io.dra4j.testkit.apiserver.validation.FieldType.Named;
import io.dra4j.testkit.apiserver.validation.FieldType.Struct;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of one release, and what decoding into them does: unknown fields vanish, wrong types
 * are refused, quantities take their canonical form.
 *
 * <p>Immutable. The fields are data: {@code fields.yaml}.
 */
public final class Schema {
    private static final JsonNode FILE = JsonTrees.resource(Schema.class, "fields.yaml");

    private final KubernetesVersion version;
    private final Map<String, FieldType> types = new HashMap<>();

    public Schema(KubernetesVersion version) {
        this.version = version;
        FILE.properties().forEach(type -> types.put(type.getKey(), FieldType.of(type.getValue(), version)));
    }

    /**
     * Normalizes a whole object: nulls and unknown fields are removed, quantities and times are rewritten.
     *
     * @return the paths of the unknown fields
     * @throws ApiFailure 400 for a value of the wrong type
     */
    public List<String> fit(ResourceKind kind, ObjectNode object) {
        JsonTrees.metadata(object);
        Decoding decoding = new Decoding(kind, version, types);
        decoding.object(object, "", whole(kind, object));
        decoding.requireFit();
        if (!types.containsKey(kind.kind())) {
            Canonical.dropNulls(object);
        }
        return decoding.unknown();
    }

    /** Adds the fields that are written even if they were never set. */
    public void complete(ResourceKind kind, ObjectNode object) {
        new Completion(types).complete(object, whole(kind, object));
    }

    /** The fields of an object; a kind that is not listed may have any. */
    private Struct whole(ResourceKind kind, ObjectNode object) {
        Map<String, Member> members = new LinkedHashMap<>();
        if (types.get(kind.kind()) instanceof Struct listed) {
            members.putAll(listed.members());
        } else {
            JsonTrees.names(object).forEach(name -> members.put(name, member("raw")));
        }
        members.put("apiVersion", member("string"));
        members.put("kind", member("string"));
        members.put("metadata", member("ObjectMeta"));
        return new Struct(members);
    }

    private static Member member(String type) {
        return new Member(new Named(type), false);
    }

    /**
     * One walk through one object, in its order.
     *
     * <p>As in the real server, a quantity or a time of the wrong form ends the walk; of other type errors, the first
     * is reported at the end.
     */
    private static final class Decoding {
        private static final int MOST_UNKNOWN = 100;

        private final ResourceKind kind;
        private final KubernetesVersion version;
        private final Map<String, FieldType> types;
        private final Completion completion;
        private final List<String> unknown = new ArrayList<>();
        private String firstProblem = "";

        Decoding(ResourceKind kind, KubernetesVersion version, Map<String, FieldType> types) {
            this.kind = kind;
            this.version = version;
            this.types = types;
            this.completion = new Completion(types);
        }

        List<String> unknown() {
            return unknown;
        }

        void requireFit() {
            if (!firstProblem.isEmpty()) {
                throw ApiFailure.unfit(kind, firstProblem);
            }
        }

        void object(ObjectNode object, String path, Struct struct) {
            for (String name : JsonTrees.names(object)) {
                Member member = struct.members().get(name);
                String inside = path.isEmpty() ? name : path + "." + name;
                JsonNode value = object.get(name);
                if (member == null) {
                    addUnknown(inside);
                    object.remove(name);
                } else if (value.isNull() && !isRaw(member.type())) {
                    object.remove(name);
                } else {
                    object.set(name, value(value, inside, member.type()));
                }
            }
        }

        /** Notes a path, unless there are already very many. */
        private void addUnknown(String path) {
            if (unknown.size() < MOST_UNKNOWN) {
                unknown.add(path);
            }
        }

        private static boolean isRaw(FieldType type) {
            return type instanceof Named named && named.name().equals("raw");
        }

        /** Checks a value and returns its replacement. */
        private JsonNode value(JsonNode value, String path, FieldType type) {
            if (type instanceof Named named) {
                return named(value, path, named.name());
            }
            if (type instanceof ListOf list) {
                if (fits(value.isArray(), path, "a list")) {
                    elements((ArrayNode) value, path, list.element());
                }
            } else if (fits(value.isObject(), path, "an object")) {
                ObjectNode object = (ObjectNode) value;
                if (type instanceof Struct struct) {
                    object(object, path, struct);
                } else if (type instanceof MapOf map) {
                    values(object, path, map.value());
                }
            }
            return value;
        }

        private void elements(ArrayNode list, String path, FieldType type) {
            for (int i = 0; i < list.size(); i++) {
                list.set(i, element(list.get(i), path + "[" + i + "]", type));
            }
        }

        private void values(ObjectNode map, String path, FieldType type) {
            for (String key : JsonTrees.names(map)) {
                map.set(key, element(map.get(key), path + "." + key, type));
            }
        }

        private JsonNode element(JsonNode value, String path, FieldType type) {
            return value.isNull() ? completion.zero(type) : value(value, path, type);
        }

        private JsonNode named(JsonNode value, String path, String type) {
            switch (type) {
                case "raw" -> {}
                case "string" -> fits(value.isTextual(), path, "a string");
                case "int" -> {
                    boolean isLong = value.isIntegralNumber() && value.canConvertToLong();
                    fits(isLong, path, "an integer");
                }
                case "bool" -> fits(value.isBoolean(), path, "a boolean");
                case "time" -> {
                    require(value.isTextual() ? "" : path + " must be a string");
                    Rfc3339 time = Rfc3339.read(value.asText());
                    require(time.problem());
                    return TextNode.valueOf(time.seconds());
                }
                case "quantity" -> {
                    require(Quantities.problem(value));
                    // The text of a number in Java has "E+" where the usual one in JSON has "e".
                    String text = value.isNumber() ? value.asText().replace("E+", "e") : value.asText();
                    return TextNode.valueOf(Quantities.canonical(text, version));
                }
                default -> {
                    return value(value, path, types.get(type));
                }
            }
            return value;
        }

        private boolean fits(boolean fits, String path, String expected) {
            if (!fits && firstProblem.isEmpty()) {
                firstProblem = path + " must be " + expected;
            }
            return fits;
        }

        private void require(String problem) {
            if (!problem.isEmpty()) {
                throw ApiFailure.unfit(kind, problem);
            }
        }
    }

    /** Adds the fields that are written even if they were never set, with the zero value of their type. */
    private record Completion(Map<String, FieldType> types) {
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

        /** The value of an unset field, and of a null in a list or a map. */
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
}
