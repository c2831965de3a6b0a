// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelIssue;
import dev.cel.common.CelSourceLocation;
import dev.cel.common.CelValidationResult;
import dev.cel.runtime.CelEvaluationException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Translates the errors of the library into those of the library in kube-apiserver. */
final class Messages {
    static final String TOO_DEEP = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";

    private static final int SHOWN = 100;

    private static final Pattern OF_GRAMMAR = Pattern.compile(
            "(mismatched input|extraneous input|missing |no viable alternative|token" + " recognition error).*",
            Pattern.DOTALL);
    private static final Pattern MISSING_KEY = Pattern.compile("key '(.*)' is not present in map", Pattern.DOTALL);
    private static final Pattern CANDIDATES = Pattern.compile(" \\(candidates: .*\\)$", Pattern.DOTALL);

    /** Names of types, and texts of macros and literals. */
    private static final Map<String, String> WORDS = Map.of(
            "google.protobuf.Timestamp", "timestamp",
            "google.protobuf.Duration", "duration",
            "*error*", "!error!",
            "The argument must be a simple name", "argument must be a simple name",
            "cel.bind() variable name must be a simple identifier",
                    "cel.bind() variable names must be simple identifiers");

    /** Texts of Java and Guava about numbers that are too large. */
    private static final Map<String, String> NUMBERS = Map.of(
            "For input string", "invalid int literal",
            "Error at index", "invalid uint literal",
            "String value", "invalid uint literal");

    private static final Map<String, String> LITERALS = Map.of(
            "Regex validation failed.", "invalid matches argument",
            "duration validation failed.", "invalid duration argument",
            "timestamp validation failed.", "invalid timestamp argument");

    private Messages() {}

    static String ofParser(CelValidationResult result, String expression) {
        if (expression.isEmpty()) {
            return "ERROR: <input>:1:0: " + grammar(result.getErrors().get(0).getMessage());
        }
        return result.getErrors().stream().anyMatch(Messages::isTooDeep) ? TOO_DEEP : shown(result, Messages::parsing);
    }

    private static boolean isTooDeep(CelIssue issue) {
        return issue.getMessage().startsWith("Expression recursion limit exceeded");
    }

    static String ofRuntime(CelEvaluationException failure) {
        String message = String.valueOf(failure.getMessage());
        Matcher key = MISSING_KEY.matcher(message);
        if (key.find()) {
            return "no such key: " + key.group(1);
        }
        return switch (failure.getErrorCode()) {
            case OVERLOAD_NOT_FOUND -> "no such overload";
            case ITERATION_BUDGET_EXCEEDED -> "operation cancelled: actual cost limit exceeded";
            default -> reason(failure).orElse(message);
        };
    }

    /** Returns the message of our function that failed; the library names only the function and its arguments. */
    private static Optional<String> reason(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .filter(IllegalArgumentException.class::isInstance)
                .map(cause -> String.valueOf(cause.getMessage()))
                .findFirst();
    }

    static String ofChecker(CelValidationResult result) {
        return shown(result, Messages::checking);
    }

    private static String shown(CelValidationResult result, UnaryOperator<String> translation) {
        List<CelIssue> errors = result.getErrors().stream()
                .sorted(Comparator.comparing(Messages::place))
                .toList();
        String text = errors.stream()
                .limit(SHOWN)
                .map(one -> display(one, translation, result))
                .collect(Collectors.joining("\n"));
        return errors.size() <= SHOWN ? text : text + "\n" + (errors.size() - SHOWN) + " more errors were truncated";
    }

    private static long place(CelIssue issue) {
        CelSourceLocation location = issue.getSourceLocation();
        return ((long) location.getLine() << Integer.SIZE) + location.getColumn();
    }

    private static String display(CelIssue issue, UnaryOperator<String> translation, CelValidationResult result) {
        String message = translation.apply(issue.getMessage());
        return CelIssue.formatError(issue.getExprId(), issue.getSourceLocation(), message)
                .toDisplayString(result.getSource());
    }

    private static String parsing(String message) {
        return byStart(message, NUMBERS)
                .orElseGet(() -> OF_GRAMMAR.matcher(message).matches() ? grammar(message) : worded(message));
    }

    private static Optional<String> byStart(String message, Map<String, String> texts) {
        return texts.keySet().stream().filter(message::startsWith).findFirst().map(texts::get);
    }

    private static String grammar(String message) {
        return "Syntax error: " + message.replace("'%%'", "'%'");
    }

    private static String checking(String message) {
        return byStart(message, LITERALS)
                .orElseGet(() -> worded(CANDIDATES.matcher(message).replaceFirst("")));
    }

    private static String worded(String message) {
        String all = message;
        for (Map.Entry<String, String> word : WORDS.entrySet()) {
            all = all.replace(word.getKey(), word.getValue());
        }
        return all;
    }
}
