// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/** The nodes from which a slice or a device can be used: one, all, or those of a selector. */
public record NodeChoice(
        @Nullable String nodeName,
        boolean allNodes,
        @Nullable NodeSelector selector) {
    public static final NodeChoice ALL = new NodeChoice(null, true, null);

    private static final NodeChoice NONE = new NodeChoice(null, false, null);

    static NodeChoice of(JsonNode json) {
        String name = JsonFields.shared(json, "nodeName");
        boolean all = json.path("allNodes").asBoolean();
        JsonNode selector = json.path("nodeSelector");
        if (name.isEmpty() && !selector.isObject()) {
            return all ? ALL : NONE;
        }
        return new NodeChoice(
                name.isEmpty() ? null : name, all, selector.isObject() ? NodeSelector.of(selector) : null);
    }

    public boolean isMade() {
        return nodeName != null || allNodes || selector != null;
    }

    public boolean includes(Node node) {
        if (nodeName != null) {
            return nodeName.equals(node.name());
        }
        return allNodes || (selector != null && selector.matches(node));
    }
}
