// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A value of an object under validation, its path in messages, and the errors found so far. */
public record Field(@Nullable Field parent, String step, JsonNode value, FieldErrors errors) {
    private static final String ELLIPSIS = "...";

    public Field(JsonNode value, String root, FieldErrors errors) {
        this(null, root, value, errors);
    }

    /** Returns the path in messages, which is built only on demand. */
    public String path() {
        if (parent == null) {
            return step;
        }
        return step.startsWith("[") ? parent.path() + step : parent.path() + "." + step;
    }

    private Field child(String childStep, JsonNode childValue) {
        return new Field(this, childStep, childValue, errors);
    }

    public Field at(String name) {
        return child(name, value.path(name));
    }

    Field key(String key) {
        return child("[" + key + "]", value.path(key));
    }

    /** Returns the value of a key, which paths abbreviate in the middle if it is longer. */
    Field key(String key, int longest) {
        if (key.length() <= longest) {
            return key(key);
        }
        int rest = longest - ELLIPSIS.length();
        String shown = key.substring(0, (rest + 1) / 2) + ELLIPSIS + key.substring(key.length() - rest / 2);
        return child("[" + shown + "]", value.path(key));
    }

    List<String> keys() {
        List<String> keys = new ArrayList<>();
        value.fieldNames().forEachRemaining(keys::add);
        return keys;
    }

    public List<Field> items() {
        List<Field> items = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            items.add(child("[" + i + "]", value.get(i)));
        }
        return items;
    }

    int size() {
        return value.size();
    }

    /** Returns the text; empty if none was sent. */
    public String text() {
        return present() ? value.asText() : "";
    }

    /** Returns whether it was sent with any value, including an empty list. */
    boolean present() {
        return !value.isMissingNode() && !value.isNull();
    }

    void required(String detail) {
        errors.required(path(), detail);
    }

    void forbidden(String detail) {
        errors.forbidden(path(), detail);
    }

    void invalid(String detail) {
        invalid(text(), detail);
    }

    void invalid(Object shown, String detail) {
        errors.invalid(path(), shown, detail);
    }

    /** Rejects a value that is not a string, and shows it as JSON, or null if it is absent. */
    void invalidValue(String detail) {
        invalid(present() ? value : JsonNodeFactory.instance.nullNode(), detail);
    }

    /** Rejects the value without showing it in the message. */
    void invalidNull(String detail) {
        invalid(JsonNodeFactory.instance.nullNode(), detail);
    }

    public void requireThat(boolean holds, String rule) {
        requireThat(holds, text(), rule);
    }

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

    /** Limits the number of elements or keys, and returns whether the limit is kept. */
    boolean requireAtMost(int limit) {
        boolean fits = size() <= limit;
        if (!fits) {
            errors.tooMany(path(), size(), limit);
        }
        return fits;
    }

    /** Limits a sum, in the words of the server for limits that are not of one list; all are of counters, as of 1.34. */
    void requireTotal(int total, String of, int limit) {
        requireThat(total <= limit, total, "the total number of " + of + " must not exceed " + limit);
    }

    void requireLength(int limit) {
        requireLength(text(), limit);
    }

    /** Limits the length of a part of the text, or of a key. */
    void requireLength(String part, int limit) {
        if (Names.bytes(part) > limit) {
            errors.tooLong(path(), limit);
        }
    }

    /** Requires a text, and returns whether it is present. */
    boolean requireText() {
        boolean found = !text().isEmpty();
        if (!found) {
            required("");
        }
        return found;
    }

    /**
     * Requires a text of a given form.
     *
     * @param problems returns the problems of a text; empty if it is valid
     */
    public void requireForm(Function<String, List<String>> problems) {
        requireForm(text(), problems);
    }

    /** Requires a given form of a part of the text, or of a key. */
    void requireForm(String part, Function<String, List<String>> problems) {
        problems.apply(part).forEach(problem -> invalid(part, problem));
    }

    void requireOneOf(List<String> supported) {
        if (!supported.contains(text())) {
            errors.notSupported(path(), text(), supported);
        }
    }

    /** Requires a text that no earlier field has. */
    void requireUnique(Set<String> seen) {
        requireUnique(text(), seen);
    }

    /**
     * @param key what no earlier field has
     */
    void requireUnique(String key, Set<String> seen) {
        if (!seen.add(key)) {
            errors.duplicate(path(), key);
        }
    }

    void requireUniqueItems(Function<Field, String> name) {
        Set<String> seen = new HashSet<>();
        items().forEach(item -> item.requireUnique(name.apply(item), seen));
    }
}
