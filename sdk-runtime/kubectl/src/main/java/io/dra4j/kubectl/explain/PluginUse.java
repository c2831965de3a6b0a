// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Counts what pods take of the resources that a node's device plugins offer. */
record PluginUse(ObjectFinder objects, PodEndings endings) {
    private static final int MOST = 3;
    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

    /** Returns who has resources that are used up, as advice without its point. */
    String remedy(String node, Set<String> resources) {
        Optional<List<JsonNode>> pods = objects.podsOf(node);
        List<String> users = new ArrayList<>();
        for (String resource : resources) {
            pods.orElse(List.of()).stream()
                    .filter(one -> !ENDED.contains(one.at("/status/phase").asText()))
                    .filter(one -> amount(one, resource) > 0)
                    .limit(MOST)
                    .forEach(one -> users.add(user(one, resource)));
        }
        return users.isEmpty()
                ? "Look at `kubectl describe node %s`: its Allocated resources say how much is requested of how much"
                        .formatted(node)
                : "Ask for less, or end a pod that has some of it: " + String.join("; ", users);
    }

    private String user(JsonNode pod, String resource) {
        String namespace = pod.at("/metadata/namespace").asText();
        String name = pod.at("/metadata/name").asText();
        return "%s/%s has %d %s%s"
                .formatted(
                        namespace,
                        name,
                        amount(pod, resource),
                        resource,
                        endings.of(List.of(new PodEndings.PodName(namespace, name)))
                                .replaceFirst(": ", ", "));
    }

    private static long amount(JsonNode pod, String resource) {
        return pod.at("/spec/containers")
                .valueStream()
                .mapToLong(one -> one.at("/resources/limits").path(resource).asLong())
                .sum();
    }
}
