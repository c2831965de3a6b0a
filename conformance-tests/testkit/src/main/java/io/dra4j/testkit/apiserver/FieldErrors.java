// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with an object, in the words of the real server. */
final class FieldErrors {
    /**
     * One wrong field.
     *
     * @param reason the machine-readable cause, for example {@code FieldValueInvalid}
     * @param message what is wrong, without the field
     */
    record FieldError(String reason, String field, String message) {
        @Override
        public String toString() {
            return field + ": " + message;
        }
    }

    private final List<FieldError> errors = new ArrayList<>();

    void required(String field, String detail) {
        add(
                "FieldValueRequired",
                field,
                detail.isEmpty() ? "Required value" : "Required value: " + detail);
    }

    void invalid(String field, Object value, String detail) {
        add("FieldValueInvalid", field, "Invalid value: " + quoted(value) + ": " + detail);
    }

    void forbidden(String field, String detail) {
        add("FieldValueForbidden", field, "Forbidden: " + detail);
    }

    void duplicate(String field, Object value) {
        add("FieldValueDuplicate", field, "Duplicate value: " + quoted(value));
    }

    void tooLong(String field, int limit) {
        add("FieldValueTooLong", field, "Too long: may not be more than " + limit + " bytes");
    }

    void tooMany(String field, int count, int limit) {
        add(
                "FieldValueTooMany",
                field,
                "Too many: " + count + ": must have at most " + limit + " items");
    }

    void notSupported(String field, Object value, List<String> supported) {
        List<String> quoted = supported.stream().map(FieldErrors::quoted).toList();
        add(
                "FieldValueNotSupported",
                field,
                "Unsupported value: "
                        + quoted(value)
                        + ": supported values: "
                        + String.join(", ", quoted));
    }

    private void add(String reason, String field, String message) {
        errors.add(new FieldError(reason, field, message));
    }

    private static String quoted(Object value) {
        return value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    }

    boolean isEmpty() {
        return errors.isEmpty();
    }

    List<FieldError> all() {
        return List.copyOf(errors);
    }
}
