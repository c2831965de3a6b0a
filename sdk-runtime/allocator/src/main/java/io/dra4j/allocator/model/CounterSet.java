// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** Counters by name: those that devices of a pool share, or the amounts that one device consumes. */
public record CounterSet(String name, Map<String, Quantity> counters) {

    /** Reads a set; the field with its name depends on the enclosing object. */
    static CounterSet of(JsonNode json, String nameField) {
        return new CounterSet(
                JsonFields.shared(json, nameField),
                JsonFields.map(json, "counters", one -> Quantity.of(one.path("value"))));
    }
}
