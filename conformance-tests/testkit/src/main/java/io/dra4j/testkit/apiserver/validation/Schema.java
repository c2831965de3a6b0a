// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of one release, and what decoding into them does: unknown fields vanish, wrong types
 * are refused, quantities take their canonical form.
 *
 * <p>Immutable. The fields are data: {@code fields.yaml}.
 */
public final class Schema {
    private static final String ANY_KEY = "*";

    private static final JsonNode FILE = read();

    /** An object's fields, or a map of one type when its only field is {@value #ANY_KEY}. */
    private final Map<String, JsonNode> types = new HashMap<>();

    public Schema(KubernetesVersion version) {
        FILE.properties()
                .forEach(type -> types.put(type.getKey(), ofRelease(type.getValue(), version)));
    }

    private static JsonNode read() {
        try (InputStream file = Schema.class.getResourceAsStream("fields.yaml")) {
            return Json.YAML.readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the jar of the embedded API server is damaged: fields.yaml", e);
        }
    }

    /** The type without the fields of other releases. */
    private static JsonNode ofRelease(JsonNode type, KubernetesVersion version) {
        if (type instanceof ArrayNode list) {
            return list.arrayNode().add(ofRelease(list.get(0), version));
        }
        if (!(type instanceof ObjectNode fields)) {
            return type;
        }
        ObjectNode kept = fields.objectNode();
        for (Map.Entry<String, JsonNode> field : fields.properties()) {
            String[] name = field.getKey().split("@");
            if (name.length == 1 || exists(name[1], version)) {
                kept.set(name[0], ofRelease(field.getValue(), version));
            }
        }
        return kept;
    }

    private static boolean exists(String range, KubernetesVersion version) {
        String[] ends = range.split("-");
        return version.atLeast(KubernetesVersion.parse(ends[0]))
                && (ends.length == 1 || KubernetesVersion.parse(ends[1]).atLeast(version));
    }

    /**
     * Brings a whole object into form: quantities and times are rewritten, unknown fields removed.
     *
     * @return the paths of the unknown fields, which are gone now
     * @throws ApiFailure 400 for a value of the wrong type
     */
    public List<String> fit(ResourceKind kind, ObjectNode object) {
        Fitting fitting = new Fitting(kind);
        fitting.value(Json.metadata(object), "metadata", types.get("ObjectMeta"));
        JsonNode type = types.get(kind.kind());
        if (type != null) {
            fitting.object(object, "", ((ObjectNode) type.deepCopy()).setAll(fitting.header()));
        }
        return fitting.unknown;
    }

    /** One walk through one object. */
    private final class Fitting {
        private final ResourceKind kind;
        private final List<String> unknown = new ArrayList<>();

        Fitting(ResourceKind kind) {
            this.kind = kind;
        }

        ObjectNode header() {
            return Json.object()
                    .put("apiVersion", "string")
                    .put("kind", "string")
                    .put("metadata", "raw");
        }

        /** Checks a value and returns what takes its place. */
        JsonNode value(JsonNode value, String path, JsonNode type) {
            if (type instanceof ArrayNode list) {
                return elements(value, path, list.get(0));
            }
            if (type instanceof ObjectNode fields) {
                require(value.isObject(), path, "an object");
                object((ObjectNode) value, path, fields);
                return value;
            }
            return scalar(value, path, type.asText());
        }

        private JsonNode elements(JsonNode value, String path, JsonNode type) {
            require(value.isArray(), path, "a list");
            ArrayNode list = (ArrayNode) value;
            for (int i = 0; i < list.size(); i++) {
                list.set(i, value(list.get(i), path + "[" + i + "]", type));
            }
            return list;
        }

        void object(ObjectNode object, String path, ObjectNode fields) {
            JsonNode ofAll = fields.get(ANY_KEY);
            for (String name : Json.names(object)) {
                JsonNode type = ofAll == null ? fields.get(name) : ofAll;
                String inside = path.isEmpty() ? name : path + "." + name;
                if (type == null) {
                    unknown.add(inside);
                    object.remove(name);
                } else {
                    object.set(name, value(object.get(name), inside, type));
                }
            }
        }

        private JsonNode scalar(JsonNode value, String path, String type) {
            switch (type) {
                case "raw" -> {}
                case "string" -> require(value.isTextual(), path, "a string");
                case "int" -> {
                    boolean fits = value.isIntegralNumber() && value.canConvertToLong();
                    require(fits, path, "an integer");
                }
                case "bool" -> require(value.isBoolean(), path, "a boolean");
                case "time" -> {
                    require(isTime(value), path, "a time in RFC 3339");
                    Instant time = OffsetDateTime.parse(value.asText()).toInstant();
                    return TextNode.valueOf(time.truncatedTo(ChronoUnit.SECONDS).toString());
                }
                case "quantity" -> {
                    require(Quantities.problem(value).isEmpty(), path, "a quantity");
                    return TextNode.valueOf(Quantities.canonical(value.asText()));
                }
                default -> {
                    return value(value, path, types.get(type));
                }
            }
            return value;
        }

        private boolean isTime(JsonNode value) {
            try {
                return value.isTextual() && OffsetDateTime.parse(value.asText()) != null;
            } catch (DateTimeException e) {
                return false;
            }
        }

        private void require(boolean fits, String path, String expected) {
            if (!fits) {
                throw ApiFailure.unfit(kind, path + " must be " + expected);
            }
        }
    }
}
