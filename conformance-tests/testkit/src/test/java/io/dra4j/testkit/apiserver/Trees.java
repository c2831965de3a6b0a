// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Trees from text with single quotes. */
final class Trees {
    private Trees() {}

    static ObjectNode tree(String text) {
        try {
            return (ObjectNode) Json.MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new AssertionError(text, e);
        }
    }

    static String repeat(String separator, int count, java.util.function.IntFunction<String> item) {
        return java.util.stream.IntStream.range(0, count)
                .mapToObj(item)
                .collect(java.util.stream.Collectors.joining(separator));
    }
}
