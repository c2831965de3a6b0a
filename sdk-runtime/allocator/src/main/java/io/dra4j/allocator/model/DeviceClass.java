// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A {@code DeviceClass}.
 *
 * @param selectors expressions in CEL; empty for a selector of another kind
 */
public record DeviceClass(String name, List<String> selectors) {

    /** Reads a {@code DeviceClass} of any version of the API. */
    public static DeviceClass of(JsonNode json) {
        return new DeviceClass(JsonFields.text(json.path("metadata"), "name"), expressions(json.path("spec")));
    }

    static List<String> expressions(JsonNode json) {
        return JsonFields.list(
                json,
                "selectors",
                one -> one.path("cel").path("expression").asText("").intern());
    }
}
