// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;

/** A toleration of a request; empty fields match all. */
public record Toleration(String key, String operator, String value, String effect) {
    private static final String EXISTS = "Exists";
    private static final String EQUAL = "Equal";

    public static Toleration of(JsonNode json) {
        return new Toleration(
                JsonFields.shared(json, "key"),
                JsonFields.shared(json, "operator"),
                JsonFields.shared(json, "value"),
                JsonFields.shared(json, "effect"));
    }

    /** Returns whether a device with the taint may still be allocated. */
    public boolean tolerates(Taint taint) {
        if (!effect.isEmpty() && !effect.equals(taint.effect())) {
            return false;
        }
        if (!key.isEmpty() && !key.equals(taint.key())) {
            return false;
        }
        return operator.equals(EXISTS)
                || ((operator.isEmpty() || operator.equals(EQUAL)) && value.equals(taint.value()));
    }
}
