// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** A node that devices are allocated on. */
public record Node(String name, Map<String, String> labels) {

    public static Node of(JsonNode json) {
        JsonNode metadata = json.path("metadata");
        return new Node(JsonFields.text(metadata, "name"), JsonFields.map(metadata, "labels", one -> one.asText("")));
    }
}
