// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.util.ArrayList;
import java.util.List;

/**
 * The {@code fieldSelector} of a list, a watch or a DeleteCollection: comparisons joined by commas.
 */
public record FieldSelector(List<Term> terms) {
    public static final FieldSelector ALL = new FieldSelector(List.of());

    /** One comparison of a field's text; a field without value compares as empty. */
    record Term(String label, boolean equal, String value) {
        boolean matches(StoredObject object) {
            return Json.text(object.json(), label.split("\\.")).equals(value) == equal;
        }
    }

    public FieldSelector {
        terms = List.copyOf(terms);
    }

    /**
     * Reads a selector for objects of that kind.
     *
     * @throws ApiFailure 400 when it cannot be read or names a field that this kind cannot be
     *     selected by
     */
    public static FieldSelector parse(ResourceKind kind, String text) {
        List<Term> terms = new ArrayList<>();
        for (String part : text.split(",")) {
            if (!part.isBlank()) {
                Term term = term(text, part.trim());
                requireKnown(kind, term.label());
                String path = Conversion.storedPath(kind, term.label());
                terms.add(new Term(path, term.equal(), term.value()));
            }
        }
        return new FieldSelector(terms);
    }

    private static Term term(String selector, String text) {
        int at = text.indexOf('=');
        if (at < 0) {
            throw ApiFailure.badRequest(
                    "invalid selector: '%s'; can't understand '%s'".formatted(selector, text));
        }
        boolean equal = at == 0 || text.charAt(at - 1) != '!';
        String label = text.substring(0, equal ? at : at - 1).trim();
        String value = text.substring(text.startsWith("==", at) ? at + 2 : at + 1).trim();
        return new Term(label, equal, value);
    }

    private static void requireKnown(ResourceKind kind, String label) {
        if (!kind.fieldLabels().contains(label)) {
            throw ApiFailure.badRequest(unknown(kind, label));
        }
    }

    private static String unknown(ResourceKind kind, String label) {
        if (kind.plural().equals("resourceslices")) {
            return "field label not supported for %s, Kind=%s: %s"
                    .formatted(kind.apiVersion(), kind.kind(), label);
        }
        boolean ofCore = kind.group().isEmpty() || kind.plural().equals("events");
        return ofCore
                ? "field label not supported: " + label
                : QuotedText.of(label)
                        + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    }

    public FieldSelector and(String label, String value) {
        List<Term> more = new ArrayList<>(terms);
        more.add(new Term(label, true, value));
        return new FieldSelector(more);
    }

    boolean matches(StoredObject object) {
        return terms.stream().allMatch(term -> term.matches(object));
    }
}
