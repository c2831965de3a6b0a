// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Names;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a label selector, and says in the words of the real server why it cannot. */
final class LabelSelectorParser {
    /** An operator, a bracket, a comma, or anything else between spaces. */
    private static final Pattern TOKEN = Pattern.compile("==|!=|[=!(),<>]|[^\\s=!(),<>]+");

    private static final Pattern SYMBOL = Pattern.compile("==|!=|[=!(),<>]|");
    private static final String END = "";

    private final Deque<String> tokens = new ArrayDeque<>();

    private LabelSelectorParser(String text) {
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            tokens.add(matcher.group());
        }
    }

    /**
     * Reads the requirements on an object's labels.
     *
     * @throws ApiFailure 400 when the text is no selector
     */
    static List<Predicate<JsonNode>> parse(String text) {
        return new LabelSelectorParser(text).requirements();
    }

    private String next() {
        return tokens.isEmpty() ? END : tokens.peek();
    }

    private String take() {
        return tokens.isEmpty() ? END : tokens.remove();
    }

    private static boolean isIdentifier(String token) {
        return !SYMBOL.matcher(token).matches();
    }

    private static ApiFailure found(String token, String expected) {
        return ApiFailure.badRequest("found '" + token + "', expected: " + expected);
    }

    private static ApiFailure unreadable(String token, String expected) {
        return ApiFailure.badRequest(
                "unable to parse requirement: found '" + token + "', expected: " + expected);
    }

    private List<Predicate<JsonNode>> requirements() {
        List<Predicate<JsonNode>> requirements = new ArrayList<>();
        while (!next().equals(END)) {
            if (!isIdentifier(next()) && !next().equals("!")) {
                throw found(next(), "!, identifier, or 'end of string'");
            }
            requirements.add(requirement());
            String end = take();
            if (end.equals(",") && !isIdentifier(next()) && !next().equals("!")) {
                throw found(next(), "identifier after ','");
            }
            if (!end.equals(",") && !end.equals(END)) {
                throw found(end, "',' or 'end of string'");
            }
        }
        return requirements;
    }

    private Predicate<JsonNode> requirement() {
        boolean unwanted = next().equals("!");
        if (unwanted) {
            take();
        }
        String key = identifier();
        require("<nil>", key, Names.qualifiedNameProblems(key));
        if (unwanted || next().equals(",") || next().equals(END)) {
            return labels -> labels.has(key) != unwanted;
        }
        String operator = take();
        return switch (operator) {
            case "=", "==" -> oneOf(key, Set.of(value()), true);
            case "!=" -> oneOf(key, Set.of(value()), false);
            case "in" -> oneOf(key, values(), true);
            case "notin" -> oneOf(key, values(), false);
            case "<", ">" -> compared(key, value(), operator.equals(">"));
            default -> throw unreadable(operator, "in, notin, =, ==, !=, gt, lt");
        };
    }

    private String identifier() {
        String token = take();
        if (!isIdentifier(token)) {
            throw unreadable(token, "identifier");
        }
        return token;
    }

    /** A value may be missing, which is the empty one. */
    private String value() {
        return next().equals(",") || next().equals(END) ? "" : identifier();
    }

    private Set<String> values() {
        String opening = take();
        if (!opening.equals("(")) {
            throw ApiFailure.badRequest(
                    "unable to parse requirement: found '" + opening + "' expected: '('");
        }
        if (!isIdentifier(next()) && !next().equals(",")) {
            throw unreadable(next(), "',', ')' or identifier");
        }
        Set<String> values = new TreeSet<>();
        String separator = ",";
        while (separator.equals(",")) {
            values.add(isIdentifier(next()) ? take() : "");
            separator = take();
        }
        if (!separator.equals(")")) {
            throw unreadable(separator, "',' or ')'");
        }
        return values;
    }

    /**
     * A missing label is in no set: it fails {@code in} and passes {@code notin} and {@code !=}.
     */
    private static Predicate<JsonNode> oneOf(String key, Set<String> values, boolean wanted) {
        int index = 0;
        for (String value : values) {
            String path = "values[" + index++ + "][" + key + "]";
            require(path, value, Names.labelValueProblems(value));
        }
        return labels -> (labels.has(key) && values.contains(labels.path(key).asText())) == wanted;
    }

    private static void require(String path, String text, List<String> problems) {
        if (!problems.isEmpty()) {
            throw ApiFailure.badRequest(
                    "unable to parse requirement: %s: Invalid value: %s: %s"
                            .formatted(path, QuotedText.of(text), String.join("; ", problems)));
        }
    }

    private static Predicate<JsonNode> compared(String key, String value, boolean greater) {
        long bound = integer(value);
        return labels -> {
            String text = labels.path(key).asText();
            return text.matches("-?\\d{1,18}")
                    && (greater ? Long.parseLong(text) > bound : Long.parseLong(text) < bound);
        };
    }

    private static long integer(String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw ApiFailure.badRequest(
                    "unable to parse requirement: values[0]: Invalid value: \"%s\": for 'Gt', 'Lt' operators, the value must be an integer"
                            .formatted(value));
        }
    }
}
