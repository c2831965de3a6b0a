// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A choice of nodes by labels and by name: one of the terms has to match. */
public record NodeSelector(List<Term> terms) {
    private static final String NAME = "metadata.name";
    private static final String NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer";

    /** A term, all of whose requirements have to match; an empty one matches no node. */
    public record Term(List<Requirement> labels, List<Requirement> fields) {}

    /** A requirement of one label, or of the field {@code metadata.name}. */
    public record Requirement(String key, String operator, List<String> values) {

        private static Requirement of(JsonNode json) {
            return new Requirement(
                    JsonFields.shared(json, "key"),
                    JsonFields.shared(json, "operator"),
                    JsonFields.texts(json, "values"));
        }

        private boolean matches(@Nullable String value) {
            return switch (operator) {
                case "In" -> value != null && values.contains(value);
                case "NotIn" -> value == null || !values.contains(value);
                case "Exists" -> value != null;
                case "DoesNotExist" -> value == null;
                case "Gt" -> value != null && compare(value) > 0;
                case "Lt" -> value != null && compare(value) < 0;
                default -> false;
            };
        }

        /** Compares integers; anything else never matches. */
        private int compare(String value) {
            return isInteger(value) && isInteger(bound())
                    ? Long.compare(Long.parseLong(value), Long.parseLong(bound()))
                    : 0;
        }

        private String bound() {
            return values.isEmpty() ? "" : values.get(0);
        }

        private boolean isValid() {
            return !List.of("Gt", "Lt").contains(operator) || isInteger(bound());
        }

        private static boolean isInteger(String text) {
            try {
                Long.parseLong(text);
                return true;
            } catch (NumberFormatException e) {
                return false;
            }
        }
    }

    public static NodeSelector of(JsonNode json) {
        return new NodeSelector(JsonFields.list(
                json,
                "nodeSelectorTerms",
                term -> new Term(
                        JsonFields.list(term, "matchExpressions", Requirement::of),
                        JsonFields.list(term, "matchFields", Requirement::of))));
    }

    public static NodeSelector ofNode(String name) {
        Requirement byName = new Requirement(NAME, "In", List.of(name));
        return new NodeSelector(List.of(new Term(List.of(), List.of(byName))));
    }

    /** Returns why the scheduler can't evaluate it, in its words; empty if it can. */
    public String problem() {
        for (int i = 0; i < terms.size(); i++) {
            List<Requirement> labels = terms.get(i).labels;
            for (int j = 0; j < labels.size(); j++) {
                if (!labels.get(j).isValid()) {
                    return "nodeSelectorTerms[%d].matchExpressions[%d].values[0]: Invalid value: \"%s\": %s"
                            .formatted(i, j, labels.get(j).bound(), NO_INTEGER);
                }
            }
        }
        return "";
    }

    public boolean matches(Node node) {
        return terms.stream().anyMatch(term -> matches(term, node));
    }

    private static boolean matches(Term term, Node node) {
        if (term.labels.isEmpty() && term.fields.isEmpty()) {
            return false;
        }
        Map<String, String> labels = node.labels();
        return term.labels.stream().allMatch(one -> one.matches(labels.get(one.key)))
                && term.fields.stream().allMatch(one -> one.key.equals(NAME) && one.matches(node.name()));
    }
}
