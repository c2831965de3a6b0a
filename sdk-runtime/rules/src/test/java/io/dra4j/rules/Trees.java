// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Trees from text with single quotes. */
public final class Trees {
    private static final JsonMapper MAPPER = new JsonMapper();

    private Trees() {}

    public static ObjectNode tree(String text) {
        try {
            return (ObjectNode) MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new AssertionError(text, e);
        }
    }

    public static String repeat(String separator, int count, IntFunction<String> item) {
        return IntStream.range(0, count).mapToObj(item).collect(Collectors.joining(separator));
    }

    /** Changes a tree as a JSON merge patch does (RFC 7386), and returns it. */
    public static ObjectNode merge(ObjectNode tree, ObjectNode patch) {
        for (Map.Entry<String, JsonNode> change : patch.properties()) {
            JsonNode there = tree.path(change.getKey());
            if (change.getValue().isNull()) {
                tree.remove(change.getKey());
            } else if (change.getValue() instanceof ObjectNode inside) {
                ObjectNode base = there instanceof ObjectNode object ? object : tree.objectNode();
                tree.set(change.getKey(), merge(base, inside));
            } else {
                tree.set(change.getKey(), change.getValue());
            }
        }
        return tree;
    }
}
