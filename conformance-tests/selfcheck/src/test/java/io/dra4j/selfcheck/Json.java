// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.stream.StreamSupport;

/** Trees alone: reflection over types costs a start more than it saves. */
final class Json {

    static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    static JsonNode read(String text) throws IOException {
        return MAPPER.readTree(text);
    }

    static List<JsonNode> list(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    static List<String> texts(JsonNode array) {
        return list(array).stream().map(JsonNode::asText).toList();
    }

    static <T extends Comparable<? super T>> List<T> sorted(Iterable<T> found) {
        return StreamSupport.stream(found.spliterator(), false).sorted().toList();
    }
}
