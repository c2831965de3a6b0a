// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A line of a file of boards: a kind and words {@code key=value}, in which {@code _} stands for a space. */
record BoardLine(String kind, Map<String, String> words) {

    BoardLine {
        words = Map.copyOf(words);
    }

    static BoardLine of(String text) {
        String[] parts = text.split(" ");
        return new BoardLine(
                parts[0],
                Stream.of(parts)
                        .skip(1)
                        .map(word -> word.split("=", 2))
                        .collect(Collectors.toMap(word -> word[0], word -> word[1])));
    }

    String text(String key) {
        String value = words.get(key);
        if (value == null) {
            throw new IllegalStateException("A line \"" + kind + "\" has no " + key);
        }
        return value.replace('_', ' ');
    }

    int number(String key, int otherwise) {
        String value = words.get(key);
        return value == null ? otherwise : Integer.parseInt(value);
    }
}
