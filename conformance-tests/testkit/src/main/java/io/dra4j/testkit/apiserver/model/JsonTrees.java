// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Reads, writes and walks JSON trees. */
public final class JsonTrees {
    /** Bodies are limited as a whole; a name that is too long is left to the rules of its field. */
    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder().maxNameLength(Integer.MAX_VALUE).build();

    public static final JsonMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(LIMITS).build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    public static final YAMLMapper YAML = new YAMLMapper();

    private JsonTrees() {}

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Reads a file of the server, which is next to a class. */
    public static JsonNode resource(Class<?> type, String name) {
        try (InputStream file = type.getResourceAsStream(name)) {
            return YAML.readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the jar of the embedded API server is damaged: " + name, e);
        }
    }

    /** Reads text that was written by this server. */
    public static JsonNode parse(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The value at a path of field names; a missing node when a step is missing. */
    public static JsonNode at(JsonNode node, String... path) {
        JsonNode current = node;
        for (String step : path) {
            current = current.path(step);
        }
        return current;
    }

    /** The text at a path, or an empty one. */
    public static String text(JsonNode node, String... path) {
        return at(node, path).asText("");
    }

    /** The names of an object's fields, as a copy, so that the object may be changed meanwhile. */
    public static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    /** The object at a field, created if missing. */
    public static ObjectNode child(ObjectNode parent, String field) {
        return parent.get(field) instanceof ObjectNode existing ? existing : parent.putObject(field);
    }

    public static ObjectNode metadata(ObjectNode object) {
        return child(object, "metadata");
    }

    public static byte[] bytes(JsonNode node) {
        try {
            return MAPPER.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets the field to a copy of what the other object has there, or removes it when the other has nothing. */
    public static void carryOver(ObjectNode from, ObjectNode to, String field) {
        JsonNode value = from.get(field);
        if (value == null) {
            to.remove(field);
        } else {
            to.set(field, value.deepCopy());
        }
    }
}
