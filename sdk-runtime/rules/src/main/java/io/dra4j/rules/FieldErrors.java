// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Collects the errors of an object in the words of the real server; each adding method returns this. */
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

    public FieldErrors required(String field, String detail) {
        String message = detail.isEmpty() ? "Required value" : "Required value: " + detail;
        return add("FieldValueRequired", field, message);
    }

    public FieldErrors invalid(String field, Object value, String detail) {
        return add("FieldValueInvalid", field, "Invalid value: " + quoted(value) + ": " + detail);
    }

    public FieldErrors forbidden(String field, String detail) {
        return add("FieldValueForbidden", field, "Forbidden: " + detail);
    }

    public FieldErrors duplicate(String field, Object value) {
        return add("FieldValueDuplicate", field, "Duplicate value: " + quoted(value));
    }

    public FieldErrors notFound(String field, Object value) {
        return add("FieldValueNotFound", field, "Not found: " + quoted(value));
    }

    public FieldErrors tooLong(String field, int limit) {
        return add("FieldValueTooLong", field, "Too long: may not be more than " + limit + " bytes");
    }

    public FieldErrors tooMany(String field, int count, int limit) {
        String message = "Too many: " + count + ": must have at most " + limit + " items";
        return add("FieldValueTooMany", field, message);
    }

    public FieldErrors notSupported(String field, Object value, List<String> supported) {
        String known = supported.stream().map(FieldErrors::quoted).collect(Collectors.joining(", "));
        String message = "Unsupported value: " + quoted(value) + ": supported values: " + known;
        return add("FieldValueNotSupported", field, message);
    }

    private FieldErrors add(String reason, String field, String message) {
        errors.add(new FieldError(reason, field, message));
        return this;
    }

    private static String quoted(Object value) {
        return value instanceof String text ? QuotedText.of(text) : String.valueOf(value);
    }

    int count() {
        return errors.size();
    }

    public boolean isEmpty() {
        return errors.isEmpty();
    }

    public List<FieldError> all() {
        return List.copyOf(errors);
    }
}
