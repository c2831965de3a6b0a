// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The amounts of a capacity that may be consumed.
 *
 * @param byDefault what a request without an amount consumes
 * @param validValues in ascending order; empty if the policy has a range or no limit
 */
public record RequestPolicy(
        @Nullable Quantity byDefault,
        List<Quantity> validValues,
        @Nullable Range validRange) {

    /** Amounts from a minimum on, in steps. */
    public record Range(
            @Nullable Quantity min,
            @Nullable Quantity max,
            @Nullable Quantity step) {}

    static RequestPolicy of(JsonNode json) {
        JsonNode range = json.path("validRange");
        return new RequestPolicy(
                optional(json, "default"),
                JsonFields.list(json, "validValues", Quantity::of),
                range.isObject()
                        ? new Range(optional(range, "min"), optional(range, "max"), optional(range, "step"))
                        : null);
    }

    private static @Nullable Quantity optional(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isMissingNode() || value.isNull() ? null : Quantity.of(value);
    }
}
