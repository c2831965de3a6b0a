// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Node;
import io.dra4j.rules.Quantities;
import java.util.HashMap;
import java.util.Map;

/**
 * A node.
 *
 * @param node as the allocator sees it
 * @param schedulable whether new pods may be placed on it
 * @param allocatable its extended resources from device plugins, by name
 */
public record NodeInfo(Node node, boolean schedulable, Map<String, Long> allocatable) {

    static NodeInfo of(JsonNode json) {
        Map<String, Long> extended = new HashMap<>();
        json.at("/status/allocatable").properties().forEach(one -> {
            if (one.getKey().contains("/")) {
                extended.put(one.getKey().intern(), Quantities.count(one.getValue()));
            }
        });
        return new NodeInfo(
                Node.of(json), !json.at("/spec/unschedulable").asBoolean(), extended.isEmpty() ? Map.of() : extended);
    }

    public String name() {
        return node.name();
    }
}
