// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.AttributeValue;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The attributes of a device, to JSON and back: an object with one field, which names the type. */
final class AttributeCodec {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private AttributeCodec() {}

    static ObjectNode encode(AttributeValue value) {
        ObjectNode json = Json.object();
        if (value instanceof AttributeValue.OfString text) {
            json.put("string", text.value());
        } else if (value instanceof AttributeValue.OfInt number) {
            json.put("int", number.value());
        } else if (value instanceof AttributeValue.OfBool truth) {
            json.put("bool", truth.value());
        } else if (value instanceof AttributeValue.OfVersion version) {
            json.put("version", version.value());
        } else if (value instanceof AttributeValue.OfStrings texts) {
            Json.putStrings(json, "strings", texts.values());
        } else if (value instanceof AttributeValue.OfInts numbers) {
            Json.putList(json, "ints", numbers.values(), NODES::numberNode);
        } else if (value instanceof AttributeValue.OfBools truths) {
            Json.putList(json, "bools", truths.values(), NODES::booleanNode);
        } else if (value instanceof AttributeValue.OfVersions versions) {
            Json.putStrings(json, "versions", versions.values());
        }
        return json;
    }

    /** Leaves out attributes without a value: what a server makes of types it does not know. */
    static Map<String, AttributeValue> decodeAll(JsonNode json) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        Json.map(json, AttributeCodec::decode).forEach((key, value) -> {
            if (value != null) {
                attributes.put(key, value);
            }
        });
        return attributes;
    }

    private static @Nullable AttributeValue decode(JsonNode json) {
        if (json.has("string")) {
            return AttributeValue.of(json.get("string").asText());
        } else if (json.has("int")) {
            return AttributeValue.of(json.get("int").asLong());
        } else if (json.has("bool")) {
            return AttributeValue.of(json.get("bool").asBoolean());
        } else if (json.has("version")) {
            return AttributeValue.version(json.get("version").asText());
        } else if (json.has("strings")) {
            return new AttributeValue.OfStrings(Json.strings(json.get("strings")));
        } else if (json.has("ints")) {
            return new AttributeValue.OfInts(Json.list(json.get("ints"), JsonNode::asLong));
        } else if (json.has("bools")) {
            return new AttributeValue.OfBools(Json.list(json.get("bools"), JsonNode::asBoolean));
        } else if (json.has("versions")) {
            return new AttributeValue.OfVersions(Json.strings(json.get("versions")));
        }
        return null;
    }
}
