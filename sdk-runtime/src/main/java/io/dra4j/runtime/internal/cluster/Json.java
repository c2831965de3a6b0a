// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.dra4j.api.device.Quantity;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** JSON as this package reads and writes it: trees, so that unknown fields survive. */
final class Json {

    private static final JsonMapper MAPPER = JsonMapper.builder(Fields.factory().build())
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private Json() {}

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /**
     * Reads one JSON value.
     *
     * @throws IllegalArgumentException if the text is something else
     */
    static JsonNode parse(String text) {
        return parse(text, parser -> {
            if (parser.nextToken() == null) {
                throw new IllegalArgumentException("Not JSON: empty");
            }
            return read(parser);
        });
    }

    /**
     * Reads some fields of a JSON value.
     *
     * @throws IllegalArgumentException if the text is something else
     */
    static JsonNode parse(String text, Fields fields) {
        return parse(text, fields::read);
    }

    private interface Reading {
        JsonNode from(JsonParser parser) throws IOException;
    }

    private static JsonNode parse(String text, Reading value) {
        try (JsonParser parser = MAPPER.createParser(text)) {
            return value.from(parser);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("Not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalStateException("A text can always be read", e);
        }
    }

    /**
     * Reads the items of a list one by one, as they come, so that a long one needs no more memory.
     *
     * @return the list's metadata
     * @throws IllegalArgumentException if it is not a list
     * @throws IOException if the text ends early, or can't be read
     */
    static JsonNode items(InputStream list, Consumer<JsonNode> item) throws IOException {
        boolean hasItems = false;
        JsonNode metadata = MissingNode.getInstance();
        try (JsonParser parser = MAPPER.createParser(list)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("it is not an object");
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                boolean isArray = parser.nextToken() == JsonToken.START_ARRAY;
                if (field.equals("items")) {
                    hasItems = true;
                    while (isArray && parser.nextToken() != JsonToken.END_ARRAY) {
                        item.accept(unmanaged(parser));
                    }
                } else if (field.equals("metadata")) {
                    metadata = read(parser);
                }
                parser.skipChildren();
            }
        }
        if (!hasItems) {
            throw new IllegalArgumentException("it has no items");
        }
        return metadata;
    }

    /** Reads an object without its managed fields, which may be most of it, and which not every server leaves out. */
    private static JsonNode unmanaged(JsonParser parser) throws IOException {
        if (!parser.isExpectedStartObjectToken()) {
            return read(parser);
        }
        ObjectNode object = object();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            if (field.equals("managedFields")) {
                parser.skipChildren();
            } else {
                object.set(field, field.equals("metadata") ? unmanaged(parser) : read(parser));
            }
        }
        return object;
    }

    private static JsonNode read(JsonParser json) throws IOException {
        return Fields.all(json, text -> JsonNodeFactory.instance.rawValueNode(new RawValue(text)));
    }

    /**
     * Reads an object that the API server has; one without a UID is another answer.
     *
     * @throws IllegalArgumentException if the text is something else
     */
    static ObjectNode parseObject(String text) {
        return (ObjectNode) requireUid(parse(text));
    }

    static JsonNode requireUid(JsonNode object) {
        if (object.at("/metadata/uid").asText().isEmpty()) {
            throw new IllegalArgumentException("it has no UID");
        }
        return object;
    }

    static JsonNode tree(Object bean) {
        return MAPPER.valueToTree(bean);
    }

    /** Writes a value with the keys of all objects sorted: equal values give equal text. */
    static String sorted(JsonNode node) {
        try {
            return MAPPER.writeValueAsString(MAPPER.treeToValue(node, Object.class));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("A JSON tree can always be written", e);
        }
    }

    static <T> List<T> list(JsonNode array, Function<JsonNode, T> read) {
        List<T> values = new ArrayList<>();
        array.forEach(element -> values.add(read.apply(element)));
        return values;
    }

    static List<String> strings(JsonNode array) {
        return list(array, JsonNode::asText);
    }

    /** Reads a list whose order is irrelevant. */
    static List<String> sortedStrings(JsonNode array) {
        return strings(array).stream().sorted().toList();
    }

    static <T> Map<String, T> map(JsonNode object, Function<JsonNode, T> read) {
        Map<String, T> values = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : object.properties()) {
            values.put(field.getKey(), read.apply(field.getValue()));
        }
        return values;
    }

    /** Adds a list unless it is empty: the API treats an empty list as present. */
    static <T> void putList(ObjectNode object, String field, Collection<T> values, Function<T, JsonNode> write) {
        values.forEach(value -> object.withArrayProperty(field).add(write.apply(value)));
    }

    static void putStrings(ObjectNode object, String field, Collection<String> values) {
        putList(object, field, values, JsonNodeFactory.instance::textNode);
    }

    static <T> void putMap(ObjectNode object, String field, Map<String, T> values, Function<T, JsonNode> write) {
        if (!values.isEmpty()) {
            ObjectNode map = object.putObject(field);
            values.forEach((key, value) -> map.set(key, write.apply(value)));
        }
    }

    static void put(ObjectNode json, String field, @Nullable Quantity quantity) {
        if (quantity != null) {
            json.put(field, quantity.text());
        }
    }
}
