// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;

/** A taint of a device; its value may be empty. */
public record Taint(String key, String value, String effect) {

    public static Taint of(JsonNode json) {
        return new Taint(
                JsonFields.shared(json, "key"), JsonFields.shared(json, "value"), JsonFields.shared(json, "effect"));
    }

    /** The form that kubectl shows. */
    @Override
    public String toString() {
        return (value.isEmpty() ? key : key + "=" + value) + ":" + effect;
    }
}
