// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The keys of a configuration in TOML, with the text of their values.
 *
 * <p>As much of TOML as configurations of container runtimes use: tables, dotted and quoted keys,
 * comments, arrays over several lines. Inline tables and multi-line strings are not read.
 */
final class TomlKeys {

    private static final Pattern PART = Pattern.compile("\\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\\s*(\\.|$)");
    private static final Pattern TEXT = Pattern.compile("\"([^\"]*)\"|'([^']*)'");

    private final Map<List<String>, String> values = new LinkedHashMap<>();

    /** Reads a file's text; keys of later texts outweigh earlier ones. */
    void read(String text) {
        List<String> table = List.of();
        StringBuilder value = new StringBuilder();
        List<String> key = List.of();
        for (String line : text.lines().map(TomlKeys::withoutComment).toList()) {
            int equals = indexOutsideQuotes(line, '=');
            if (!key.isEmpty()) {
                value.append(' ').append(line);
            } else if (line.startsWith("[") && equals < 0) {
                table = parts(line.replaceAll("^\\[+|]+$", ""));
                continue;
            } else if (equals > 0) {
                key = new ArrayList<>(table);
                key.addAll(parts(line.substring(0, equals)));
                value.setLength(0);
                value.append(line.substring(equals + 1).strip());
            }
            if (!key.isEmpty() && isComplete(value)) {
                values.put(List.copyOf(key), value.toString());
                key = List.of();
            }
        }
    }

    private static boolean isComplete(CharSequence value) {
        String text = value.toString();
        return !text.startsWith("[") || text.stripTrailing().endsWith("]");
    }

    private static String withoutComment(String line) {
        int comment = indexOutsideQuotes(line, '#');
        return (comment < 0 ? line : line.substring(0, comment)).strip();
    }

    private static int indexOutsideQuotes(String line, char wanted) {
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quote != 0) {
                quote = c == quote ? 0 : quote;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static List<String> parts(String key) {
        List<String> parts = new ArrayList<>();
        Matcher matcher = PART.matcher(key);
        while (matcher.find()) {
            for (int group = 1; group <= 3; group++) {
                if (matcher.group(group) != null) {
                    parts.add(matcher.group(group));
                }
            }
        }
        return parts;
    }

    Optional<String> text(String... key) {
        return Optional.ofNullable(values.get(List.of(key)));
    }

    /** The strings of an array; empty if there is no such key. */
    Optional<List<String>> texts(String... key) {
        return text(key)
                .map(array -> TEXT.matcher(array)
                        .results()
                        .map(one -> one.group(1) == null ? one.group(2) : one.group(1))
                        .toList());
    }
}
