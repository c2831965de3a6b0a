// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;

/**
 * Some fields of JSON documents: only these are kept, since a user may give an object hundreds of thousands of others,
 * such as labels. Immutable.
 */
public final class Fields {

    /** Names of fields are not kept beyond their use, of which there may be many. */
    private static final JsonMapper MAPPER = new JsonMapper(
            factory().disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES).build());

    private static final int DEEPEST = 10_000; // of any JSON, by Kubernetes
    private static final int DEEPEST_FIELD = 64; // more than any that an API declares

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

    /** Accepts all JSON that an API server does: one claim must not make the list of all claims unreadable. */
    static JsonFactoryBuilder factory() {
        return (JsonFactoryBuilder) JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEEPEST)
                        .maxNumberLength(Integer.MAX_VALUE)
                        .build())
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(DEEPEST)
                        .build());
    }

    /**
     * Returns a document with only these fields. The parameters of drivers, and other JSON that is deep, become
     * strings.
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
                array.add(json.isExpectedStartArrayToken() ? all(json) : read(json, parent)); // of no API
            }
            return array;
        }
        return json.isExpectedStartObjectToken() ? object(json, parent) : all(json);
    }

    private ObjectNode object(JsonParser json, String parent) throws IOException {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            String path = parent + name;
            json.nextToken();
            if (paths.contains(path)) {
                object.set(name, all(json));
            } else if (parents.contains(path)) {
                object.set(name, read(json, path + "."));
            } else {
                json.skipChildren();
            }
        }
        return object;
    }

    private static JsonNode all(JsonParser json) throws IOException {
        return all(json, JsonNodeFactory.instance::textNode);
    }

    /**
     * Reads the value at hand. The parameters of a driver, and other JSON of any form if it is deep, are kept as text:
     * with fields given twice and all digits, and nothing recurses into them.
     */
    static JsonNode all(JsonParser json, Function<String, JsonNode> ofText) throws IOException {
        if (!json.currentToken().isStructStart()) {
            return json.readValueAsTree();
        }
        if (isOfAnyForm(json.getParsingContext())) {
            StringWriter text = new StringWriter();
            try (JsonGenerator copy = MAPPER.createGenerator(text)) {
                copy.copyCurrentStructureExact(json);
            }
            return ofText.apply(text.toString());
        }
        if (json.isExpectedStartArrayToken()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                array.add(all(json, ofText));
            }
            return array;
        }
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            object.set(field, all(json, ofText));
        }
        return object;
    }

    private static boolean isOfAnyForm(JsonStreamContext inside) {
        JsonStreamContext field = inside.getParent();
        return inside.getNestingDepth() > DEEPEST_FIELD
                || "parameters".equals(field.getCurrentName())
                        && "opaque".equals(field.getParent().getCurrentName());
    }
}
