// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import java.util.Set;

/**
 * Writes HTML, element by element; the caller that opens one closes it.
 *
 * <p>A tag may carry classes, {@code td.number}. Attributes come as names and values. Text and values are escaped, and
 * invisible characters are made visible. Not thread-safe.
 */
final class Html {

    private static final Set<String> INLINE = Set.of("span", "a", "b", "code", "strong");

    private final StringBuilder out = new StringBuilder("<!DOCTYPE html>\n");

    /** Writes an element, with what {@code content} writes inside. */
    Html element(String tag, Runnable content, String... attributes) {
        String name = open(tag, attributes);
        content.run();
        out.append("</").append(name).append('>');
        if (!INLINE.contains(name)) {
            out.append('\n');
        }
        return this;
    }

    Html element(String tag, String text, String... attributes) {
        return element(tag, () -> text(text), attributes);
    }

    /** Writes an element without an end tag, in a form that is also well-formed XML. */
    Html single(String tag, String... attributes) {
        open(tag, attributes);
        out.insert(out.length() - 1, '/');
        return this;
    }

    /** Writes text of the catalogue, in which text between backticks is code. */
    Html prose(String text) {
        String[] parts = text.split("`", -1);
        for (int i = 0; i < parts.length; i++) {
            if (i % 2 == 1 && i < parts.length - 1) {
                element("code", parts[i]);
            } else {
                text(i % 2 == 1 ? "`" + parts[i] : parts[i]);
            }
        }
        return this;
    }

    Html text(String text) {
        return trusted(escaped(VisibleText.of(text)));
    }

    /** Appends text that this module wrote itself, without escapes. */
    Html trusted(String markup) {
        out.append(markup);
        return this;
    }

    private String open(String tag, String... attributes) {
        String[] parts = tag.split("\\.", 2);
        out.append('<').append(parts[0]);
        if (parts.length == 2) {
            attribute("class", parts[1].replace('.', ' '));
        }
        for (int i = 0; i < attributes.length; i += 2) {
            attribute(attributes[i], attributes[i + 1]);
        }
        out.append('>');
        return parts[0];
    }

    private void attribute(String name, String value) {
        out.append(' ').append(name);
        out.append("=\"").append(escaped(VisibleText.of(value))).append('"');
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    @Override
    public String toString() {
        return out.append('\n').toString();
    }
}
