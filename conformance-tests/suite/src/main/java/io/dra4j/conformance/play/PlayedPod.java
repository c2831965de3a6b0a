// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * A pod as the kubelet sees it: its claims, and which container uses which of them.
 *
 * @param name the pod's name
 * @param claims the claims, by their names in the pod
 * @param containers the containers
 */
record PlayedPod(String name, Map<String, PlayedClaim> claims, List<Container> containers) {

    /** One container, with the claims and single requests that it uses. */
    record Container(String name, List<Use> uses) {}

    /** A claim by its name in the pod, and one request of it; empty for all. */
    record Use(String claim, String request) {
        @Override
        public String toString() {
            return request.isEmpty() ? claim : claim + "/" + request;
        }
    }

    static PlayedPod of(JsonNode pod, BiFunction<String, String, JsonNode> claimNamed) {
        String namespace = pod.at("/metadata/namespace").asText();
        Map<String, PlayedClaim> claims = new LinkedHashMap<>();
        for (JsonNode entry : pod.at("/spec/resourceClaims")) {
            String name = entry.path("resourceClaimName").asText();
            claims.put(
                    entry.path("name").asText(), PlayedClaim.of(claimNamed.apply(namespace, name)));
        }
        List<Container> containers = new ArrayList<>();
        for (JsonNode container : pod.at("/spec/containers")) {
            List<Use> uses = new ArrayList<>();
            for (JsonNode use : container.at("/resources/claims")) {
                uses.add(new Use(use.path("name").asText(), use.path("request").asText("")));
            }
            containers.add(new Container(container.path("name").asText(), uses));
        }
        return new PlayedPod(pod.at("/metadata/name").asText(), claims, containers);
    }
}
