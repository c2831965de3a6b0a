// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.DYN;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.STRINGS;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import dev.cel.common.types.ListType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/** The string functions that the library lacks: {@code find}, {@code findAll}, {@code format}. */
final class Texts {
    private static final Pattern VERB = Pattern.compile("%(?:\\.([0-9]+))?([a-zA-Z%])");

    private Texts() {}

    static void addTo(Functions functions) {
        functions
                .member("find", "string_find_string", STRING, Texts::find, STRING, STRING)
                .member("findAll", "string_find_all_string", STRINGS, a -> findAll(a, Long.MAX_VALUE), STRING, STRING)
                .member(
                        "findAll",
                        "string_find_all_string_int",
                        STRINGS,
                        a -> findAll(a, (Long) a[2]),
                        STRING,
                        STRING,
                        INT)
                .member(
                        "format",
                        "string_format",
                        STRING,
                        a -> format((String) a[0], (List<?>) a[1]),
                        STRING,
                        ListType.create(DYN));
    }

    private static Matcher matcher(Object[] arguments) {
        return Pattern.compile((String) arguments[1]).matcher((String) arguments[0]);
    }

    private static Object find(Object[] arguments) {
        Matcher matcher = matcher(arguments);
        return matcher.find() ? matcher.group() : "";
    }

    /**
     * @param limit the maximum number of results; negative for no limit
     */
    private static List<String> findAll(Object[] arguments, long limit) {
        Matcher matcher = matcher(arguments);
        List<String> all = new ArrayList<>();
        int end = -1;
        while ((limit < 0 || all.size() < limit) && matcher.find()) {
            if (matcher.end() != end) { // in Go, nothing is found right after a match
                all.add(matcher.group());
            }
            end = matcher.end();
        }
        return all;
    }

    private static String format(String form, List<?> values) {
        StringBuilder text = new StringBuilder();
        Iterator<?> rest = values.iterator();
        Matcher verb = VERB.matcher(form);
        int end = 0;
        while (verb.find()) {
            text.append(form, end, verb.start());
            text.append(verb.group(2).equals("%") ? "%" : formatted(verb, rest));
            end = verb.end();
        }
        return text.append(form.substring(end)).toString();
    }

    private static String formatted(Matcher verb, Iterator<?> values) {
        if (!values.hasNext()) {
            throw new IllegalArgumentException("index out of range");
        }
        Object value = values.next();
        String digits = verb.group(1) == null ? ".6" : "." + verb.group(1);
        return switch (verb.group(2)) {
            case "s", "d" -> String.valueOf(value);
            case "f" -> String.format(Locale.ROOT, "%" + digits + "f", value);
            case "e" -> String.format(Locale.ROOT, "%" + digits + "e", value);
            case "b" -> Long.toBinaryString(number(value));
            case "o" -> Long.toOctalString(number(value));
            case "x" -> hexadecimal(value);
            case "X" -> hexadecimal(value).toUpperCase(Locale.ROOT);
            default -> throw new IllegalArgumentException("unrecognized formatting clause \"" + verb.group(2) + "\"");
        };
    }

    private static String hexadecimal(Object value) {
        return value instanceof String text
                ? HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8))
                : Long.toHexString(number(value));
    }

    private static long number(Object value) {
        return value instanceof Boolean truth ? (truth ? 1 : 0) : ((Number) value).longValue();
    }
}
