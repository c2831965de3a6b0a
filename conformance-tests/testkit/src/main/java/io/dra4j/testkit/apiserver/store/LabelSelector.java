// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Names;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@code labelSelector} of a request: equality and set forms, as {@code kubectl -l} takes them. */
public record LabelSelector(List<Predicate<JsonNode>> requirements) {
    public static final LabelSelector ALL = new LabelSelector(List.of());

    public LabelSelector {
        requirements = List.copyOf(requirements);
    }

    /** Reads a selector; 400 when the text is none. */
    public static LabelSelector parse(String text) {
        return new LabelSelector(LabelSelectorParser.parse(text));
    }

    boolean matches(StoredObject object) {
        JsonNode labels = JsonTrees.at(object.json(), "metadata", "labels");
        return requirements.stream().allMatch(requirement -> requirement.test(labels));
    }

    /** Reads a label selector, and says in the words of the real server why it cannot. */
    private static final class LabelSelectorParser {
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

        /** Reads the requirements on an object's labels; 400 when the text is not a selector. */
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
            return ApiFailure.badRequest("unable to parse requirement: found '" + token + "', expected: " + expected);
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
            requireKey(key);
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

        /** A missing value is the empty one. */
        private String value() {
            return next().equals(",") || next().equals(END) ? "" : identifier();
        }

        private Set<String> values() {
            String opening = take();
            if (!opening.equals("(")) {
                throw ApiFailure.badRequest("unable to parse requirement: found '" + opening + "' expected: '('");
            }
            Set<String> values = new TreeSet<>();
            if (!isIdentifier(next()) && !next().equals(",") && !next().equals(")")) {
                throw unreadable(next(), "',', ')' or identifier");
            }
            String separator = ",";
            while (separator.equals(",")) {
                values.add(isIdentifier(next()) ? take() : "");
                separator = take();
                boolean ended = separator.equals(",") || separator.equals(")");
                if (!ended) {
                    throw unreadable(separator, "',' or ')'");
                }
                if (separator.equals(",") && !isValueOrEnd(next())) {
                    throw unreadable(next(), "',', or identifier");
                }
            }
            return values;
        }

        private static boolean isValueOrEnd(String token) {
            return isIdentifier(token) || token.equals(",") || token.equals(")");
        }

        /** A missing label is in no set: it fails {@code in} and passes {@code notin} and {@code !=}. */
        private static Predicate<JsonNode> oneOf(String key, Set<String> values, boolean wanted) {
            requireValues(key, values, new ArrayList<>());
            return labels ->
                    (labels.has(key) && values.contains(labels.path(key).asText())) == wanted;
        }

        private static void requireValues(String key, Set<String> values, List<String> problems) {
            int index = 0;
            for (String value : values) {
                String path = "values[" + index++ + "][" + key + "]";
                List<String> ofValue = Names.labelValueProblems(value);
                if (!ofValue.isEmpty()) {
                    problems.add(invalid(path, value, String.join("; ", ofValue)));
                }
            }
            if (!problems.isEmpty()) {
                String all = String.join(", ", problems);
                throw ApiFailure.badRequest(
                        "unable to parse requirement: " + (problems.size() == 1 ? all : "[" + all + "]"));
            }
        }

        private static String invalid(String path, String value, String problem) {
            return path + ": Invalid value: " + QuotedText.of(value) + ": " + problem;
        }

        private static void requireKey(String key) {
            List<String> problems = Names.qualifiedNameProblems(key);
            if (!problems.isEmpty()) {
                throw ApiFailure.badRequest(
                        "unable to parse requirement: " + invalid("<nil>", key, String.join("; ", problems)));
            }
        }

        private static Predicate<JsonNode> compared(String key, String value, boolean greater) {
            List<String> problems = new ArrayList<>();
            OptionalLong bound = integer(value);
            if (bound.isEmpty()) {
                String rule = "for 'Gt', 'Lt' operators, the value must be an integer";
                problems.add(invalid("values[0]", value, rule));
            }
            requireValues(key, Set.of(value), problems);
            return labels -> {
                OptionalLong found = integer(labels.path(key).asText());
                return found.isPresent()
                        && (greater ? found.getAsLong() > bound.getAsLong() : found.getAsLong() < bound.getAsLong());
            };
        }

        private static OptionalLong integer(String value) {
            try {
                return OptionalLong.of(Long.parseLong(value));
            } catch (NumberFormatException e) {
                return OptionalLong.empty();
            }
        }
    }
}
