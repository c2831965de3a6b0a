// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Formats values for messages: on one line, short, and with all characters visible. */
public final class Shown {

    /** The longest name of an attribute has 96 characters. */
    private static final int MOST = 100;

    /** The longest rule of a server has about 350 characters. */
    private static final int MOST_WORDS = 500;

    private static final int END = 400;

    private Shown() {}

    static String value(@Nullable Object value) {
        return value instanceof String text ? '"' + name(text) + '"' : name(String.valueOf(value));
    }

    static String name(@Nullable String name) {
        String text = String.valueOf(name);
        StringBuilder shown = new StringBuilder();
        int next = 0;
        while (next < text.length() && shown.length() < MOST) {
            int point = text.codePointAt(next);
            append(shown, point);
            next += Character.charCount(point);
        }
        if (next < text.length()) {
            shown.append("... (").append(text.length()).append(" characters)");
        }
        return shown.toString();
    }

    /** A server's message, which may quote a value of any length: then the middle is cut. */
    public static String message(String message) {
        StringBuilder shown = new StringBuilder();
        withoutMiddle(message).codePoints().forEach(point -> append(shown, point));
        return withoutMiddle(shown.toString());
    }

    private static String withoutMiddle(String text) {
        return text.length() > MOST_WORDS
                ? text.substring(0, MOST) + "..." + text.substring(text.length() - END)
                : text;
    }

    private static void append(StringBuilder shown, int point) {
        switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.PRIVATE_USE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> shown.append(String.format(Locale.ROOT, "\\u{%x}", point));
            default -> shown.appendCodePoint(point);
        }
    }
}
