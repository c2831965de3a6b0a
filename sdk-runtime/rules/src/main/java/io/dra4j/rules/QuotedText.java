// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** Quotes text for messages, and escapes unprintable characters as Go does. */
public final class QuotedText {
    /** The characters of the escapes in {@link #LETTERS}, in the same order. */
    private static final String ESCAPED = "\u0007\b\t\n\u000b\f\r\"\\";

    private static final String LETTERS = "abtnvfr\"\\";

    private QuotedText() {}

    public static String of(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.codePoints().forEach(c -> quoted.append(escaped(c)));
        return quoted.append('"').toString();
    }

    private static String escaped(int c) {
        int escape = ESCAPED.indexOf(c);
        if (escape >= 0) {
            return "\\" + LETTERS.charAt(escape);
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
