// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * A capacity of a device.
 *
 * @param policy the amounts that may be consumed; null if any may be
 */
public record Capacity(Quantity value, @Nullable RequestPolicy policy) {

    static Capacity of(JsonNode json) {
        JsonNode policy = json.path("requestPolicy");
        return new Capacity(Quantity.of(json.path("value")), policy.isObject() ? RequestPolicy.of(policy) : null);
    }
}
