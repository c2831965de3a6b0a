// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@code fieldSelector} of a list, a watch or a DeleteCollection: comparisons joined by commas. */
public record FieldSelector(List<Term> terms) {
    public static final FieldSelector ALL = new FieldSelector(List.of());

    /** A text between commas; a comma after a backslash does not count. */
    private static final Pattern TERM = Pattern.compile("(?:[^\\\\,]++|\\\\.|\\\\$)++", Pattern.DOTALL);

    private static final Pattern OPERATOR = Pattern.compile("!=|==|=");

    /** The characters that must be escaped in values. */
    private static final String SPECIAL = "\\,=";

    /** One comparison of a field's text; a field without a value compares as empty. */
    record Term(String label, boolean equal, String value) {
        /** The same comparison of the field as it is stored. */
        Term storedIn(ResourceKind kind) {
            requireKnown(kind, label);
            return new Term(Conversion.storedPath(kind, label), equal, value);
        }

        boolean matches(StoredObject object) {
            return JsonTrees.text(object.json(), label.split("\\.")).equals(value) == equal;
        }
    }

    public FieldSelector {
        terms = List.copyOf(terms);
    }

    /** Reads a selector of a kind; 400 when it can't be read or names a field that can't select this kind. */
    public static FieldSelector parse(ResourceKind kind, String text) {
        List<Term> terms = new ArrayList<>();
        // An error is about the first of the terms in the order of their texts.
        TERM.matcher(text).results().map(MatchResult::group).sorted().forEach(part -> terms.add(term(text, part)));
        return new FieldSelector(terms.stream().map(term -> term.storedIn(kind)).toList());
    }

    private static Term term(String selector, String text) {
        Matcher operator = OPERATOR.matcher(text);
        if (!operator.find()) {
            throw ApiFailure.badRequest("invalid selector: '%s'; can't understand '%s'".formatted(selector, text));
        }
        return new Term(
                text.substring(0, operator.start()),
                !operator.group().equals("!="),
                unescaped(text.substring(operator.end())));
    }

    private static String unescaped(String value) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\\') {
                String rest = value.substring(i + 1);
                if (rest.isEmpty() || SPECIAL.indexOf(rest.charAt(0)) < 0) {
                    String sequence = "\\" + rest.substring(0, Math.min(1, rest.length()));
                    throw invalid("invalid escape sequence: " + sequence);
                }
                plain.append(rest.charAt(0));
                i++;
            } else if (c == '=') {
                throw invalid("unescaped character in value: " + (int) c);
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }

    private static ApiFailure invalid(String why) {
        return ApiFailure.badRequest("invalid field selector: " + why);
    }

    private static void requireKnown(ResourceKind kind, String label) {
        if (!kind.fieldLabels().contains(label)) {
            throw ApiFailure.badRequest(unknown(kind, label));
        }
    }

    private static String unknown(ResourceKind kind, String label) {
        if (kind.plural().equals("resourceslices")) {
            return "field label not supported for %s, Kind=%s: %s".formatted(kind.apiVersion(), kind.kind(), label);
        }
        boolean ofCore = kind.group().isEmpty() || kind.plural().equals("events");
        return ofCore
                ? "field label not supported: " + label
                : QuotedText.of(label)
                        + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    }

    boolean matches(StoredObject object) {
        return terms.stream().allMatch(term -> term.matches(object));
    }
}
