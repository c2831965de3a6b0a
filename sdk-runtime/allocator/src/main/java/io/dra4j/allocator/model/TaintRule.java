// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A rule of an administrator that taints devices; an empty name stands for all.
 *
 * @param hasSelector whether it has a selector, even an empty one: a rule without one should taint nothing
 * @param created the creation time from the server, which decides nothing
 */
public record TaintRule(
        String name, boolean hasSelector, String driver, String pool, String device, Taint taint, String created) {

    public static TaintRule of(JsonNode json) {
        JsonNode selector = json.at("/spec/deviceSelector");
        return new TaintRule(
                JsonFields.text(json.path("metadata"), "name"),
                selector.isObject(),
                JsonFields.shared(selector, "driver"),
                JsonFields.shared(selector, "pool"),
                JsonFields.shared(selector, "device"),
                Taint.of(json.at("/spec/taint")),
                JsonFields.text(json.path("metadata"), "creationTimestamp"));
    }

    /** Returns whether the rule selects a device; an empty name matches all. */
    public boolean selects(DeviceId id) {
        return selects(driver, id.driver()) && selects(pool, id.pool()) && selects(device, id.device());
    }

    private static boolean selects(String chosen, String name) {
        return chosen.isEmpty() || chosen.equals(name);
    }
}
