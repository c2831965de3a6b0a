// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** A value of an object under validation, its path in messages, and the errors found so far. */
public record Field(JsonNode value, String path, FieldErrors errors) {

    /** The field of this name in an object. */
    public Field at(String name) {
        return new Field(value.path(name), path + "." + name, errors);
    }

    /** The value of a key in a map. */
    Field key(String key) {
        return new Field(value.path(key), path + "[" + key + "]", errors);
    }

    List<String> keys() {
        return value.propertyStream().map(Map.Entry::getKey).toList();
    }

    public List<Field> items() {
        List<Field> items = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            items.add(new Field(value.get(i), path + "[" + i + "]", errors));
        }
        return items;
    }

    int size() {
        return value.size();
    }

    public String text() {
        return value.asText();
    }

    /** Returns whether it was sent with any value, an empty list included. */
    boolean present() {
        return !value.isMissingNode() && !value.isNull();
    }

    void required(String detail) {
        errors.required(path, detail);
    }

    void forbidden(String detail) {
        errors.forbidden(path, detail);
    }

    void invalid(String detail) {
        invalid(text(), detail);
    }

    /**
     * @param shown the value in the message
     */
    void invalid(Object shown, String detail) {
        errors.invalid(path, shown, detail);
    }

    /** Refuses the value unless a rule holds. */
    public void requireThat(boolean holds, String rule) {
        requireThat(holds, text(), rule);
    }

    /**
     * @param shown the value in the message
     */
    void requireThat(boolean holds, Object shown, String rule) {
        if (!holds) {
            invalid(shown, rule);
        }
    }

    void requireNotNegative() {
        long number = value.asLong();
        requireThat(number >= 0, number, "must be greater than or equal to zero");
    }

    void requirePositive() {
        long number = value.asLong();
        requireThat(number > 0, number, "must be greater than zero");
    }

    /** Requires that the number of elements, keys or fields does not exceed a limit. */
    void requireAtMost(int limit) {
        requireAtMost(size(), limit);
    }

    void requireAtMost(int count, int limit) {
        if (count > limit) {
            errors.tooMany(path, count, limit);
        }
    }

    /** Requires that a text does not exceed a length, and returns whether it does not. */
    boolean requireLength(int limit) {
        boolean fits = text().length() <= limit;
        if (!fits) {
            errors.tooLong(path, limit);
        }
        return fits;
    }

    /** Requires a text, and returns whether there is one. */
    boolean requireText() {
        boolean found = !text().isEmpty();
        if (!found) {
            required("");
        }
        return found;
    }

    /**
     * Requires a text of a form.
     *
     * @param problem returns the problem of a text; empty if there is none
     */
    public void requireForm(UnaryOperator<String> problem) {
        requireForm(text(), problem);
    }

    /** Requires a part of the text, or a key, of a form. */
    void requireForm(String part, UnaryOperator<String> problem) {
        String found = problem.apply(part);
        requireThat(found.isEmpty(), part, found);
    }

    void requireOneOf(List<String> supported) {
        if (!supported.contains(text())) {
            errors.notSupported(path, text(), supported);
        }
    }

    /** Requires a text that no earlier field has. */
    void requireUnique(Set<String> seen) {
        if (!seen.add(text())) {
            errors.duplicate(path, text());
        }
    }
}
