// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Map;

/** Quotes text for messages, and escapes unprintable characters as Go does. */
public final class QuotedText {
    private static final Map<Integer, String> ESCAPES = Map.of(
            7,
            "\\a",
            8,
            "\\b",
            9,
            "\\t",
            10,
            "\\n",
            11,
            "\\v",
            12,
            "\\f",
            13,
            "\\r",
            (int) '"',
            "\\\"",
            (int) '\\',
            "\\\\");

    private QuotedText() {}

    public static String of(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.codePoints().forEach(c -> quoted.append(escaped(c)));
        return quoted.append('"').toString();
    }

    private static String escaped(int c) {
        String escape = ESCAPES.get(c);
        if (escape != null) {
            return escape;
        }
        if (isPrintable(c)) {
            return Character.toString(c);
        }
        return (c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x").formatted(c);
    }

    /** Returns whether it is a letter, mark, number, punctuation, symbol or the ordinary space. */
    public static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }
}
