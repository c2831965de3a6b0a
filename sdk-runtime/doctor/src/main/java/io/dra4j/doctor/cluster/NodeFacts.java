// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.TreeMap;

/**
 * The facts about a node that checks read.
 *
 * @param kubelet the version of its kubelet, such as {@code v1.36.2}
 * @param runtime its container runtime, such as {@code containerd://2.1.4}
 * @param bootId identifies the boot of its kernel
 * @param ready whether its kubelet reports
 * @param allocatable its resources, by name
 */
public record NodeFacts(
        String name,
        String kubelet,
        String runtime,
        String bootId,
        boolean ready,
        Map<String, String> labels,
        Map<String, String> allocatable) {

    static NodeFacts of(JsonNode node) {
        JsonNode info = node.at("/status/nodeInfo");
        boolean ready = false;
        for (JsonNode condition : node.at("/status/conditions")) {
            ready |= condition.path("type").asText().equals("Ready")
                    && condition.path("status").asText().equals("True");
        }
        return new NodeFacts(
                node.at("/metadata/name").asText(),
                info.path("kubeletVersion").asText(),
                info.path("containerRuntimeVersion").asText(),
                info.path("bootID").asText(),
                ready,
                texts(node.at("/metadata/labels")),
                texts(node.at("/status/allocatable")));
    }

    private static Map<String, String> texts(JsonNode map) {
        Map<String, String> texts = new TreeMap<>();
        map.properties()
                .forEach(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }
}
