// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * Some fields of JSON documents: only these are kept, since a user may give an object hundreds of thousands of others,
 * such as labels. Immutable.
 */
public final class Fields {

    /** Names of fields are not kept beyond their use, of which there may be many. */
    private static final JsonMapper MAPPER = new JsonMapper(JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .build());

    private final Set<String> paths;
    private final Set<String> parents = new HashSet<>();

    /** Takes for each field its name, after those of the fields that it is in, with dots in between. */
    public Fields(Set<String> paths) {
        this.paths = Set.copyOf(paths);
        for (String path : paths) {
            for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
                parents.add(path.substring(0, dot));
            }
        }
    }

    /**
     * Returns a document with only these fields.
     *
     * @throws IOException if it is not JSON
     */
    public String in(byte[] document) throws IOException {
        try (JsonParser json = MAPPER.createParser(document)) {
            JsonNode read = read(json);
            if (json.nextToken() != null) {
                throw new JsonParseException(json, "more follows");
            }
            return read.toString();
        }
    }

    /** Reads the next value. */
    JsonNode read(JsonParser json) throws IOException {
        return json.nextToken() == null ? MissingNode.getInstance() : read(json, "");
    }

    private JsonNode read(JsonParser json, String parent) throws IOException {
        if (json.isExpectedStartArrayToken()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                array.add(read(json, parent));
            }
            return array;
        }
        return json.isExpectedStartObjectToken() ? object(json, parent) : json.readValueAsTree();
    }

    private ObjectNode object(JsonParser json, String parent) throws IOException {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            String path = parent + name;
            json.nextToken();
            if (paths.contains(path)) {
                object.set(name, json.<JsonNode>readValueAsTree());
            } else if (parents.contains(path)) {
                object.set(name, read(json, path + "."));
            } else {
                json.skipChildren();
            }
        }
        return object;
    }
}
