// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with an object, in the words of the real server. */
public final class FieldErrors {
    /**
     * One wrong field.
     *
     * @param reason the machine-readable cause, for example {@code FieldValueInvalid}
     * @param message what is wrong, without the field
     */
    public record FieldError(String reason, String field, String message) {
        @Override
        public String toString() {
            return field + ": " + message;
        }
    }

    private final List<FieldError> errors = new ArrayList<>();

    public void required(String field, String detail) {
        add(
                "FieldValueRequired",
                field,
                detail.isEmpty() ? "Required value" : "Required value: " + detail);
    }

    public void invalid(String field, Object value, String detail) {
        add("FieldValueInvalid", field, "Invalid value: " + quoted(value) + ": " + detail);
    }

    public void forbidden(String field, String detail) {
        add("FieldValueForbidden", field, "Forbidden: " + detail);
    }

    public void duplicate(String field, Object value) {
        add("FieldValueDuplicate", field, "Duplicate value: " + quoted(value));
    }

    public void tooLong(String field, int limit) {
        add("FieldValueTooLong", field, "Too long: may not be more than " + limit + " bytes");
    }

    public void tooMany(String field, int count, int limit) {
        add(
                "FieldValueTooMany",
                field,
                "Too many: " + count + ": must have at most " + limit + " items");
    }

    public void notSupported(String field, Object value, List<String> supported) {
        List<String> quoted = supported.stream().map(FieldErrors::quoted).toList();
        add(
                "FieldValueNotSupported",
                field,
                "Unsupported value: %s: supported values: %s"
                        .formatted(quoted(value), String.join(", ", quoted)));
    }

    private void add(String reason, String field, String message) {
        errors.add(new FieldError(reason, field, message));
    }

    private static String quoted(Object value) {
        return value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    }

    public boolean isEmpty() {
        return errors.isEmpty();
    }

    public List<FieldError> all() {
        return List.copyOf(errors);
    }
}
