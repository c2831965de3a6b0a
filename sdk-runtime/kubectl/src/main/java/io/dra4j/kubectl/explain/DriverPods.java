// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * Finds the pods of drivers: nothing in the API names them, but a driver in a pod has to mount the
 * folder in which the kubelet looks for plugins.
 */
record DriverPods(ObjectFinder objects) {
    private static final String REGISTRY = "plugins_registry";

    /** Returns how to see and restart a driver on a node, as a sentence; empty if it is unknown. */
    String of(String driver, String node) {
        Optional<List<JsonNode>> pods = objects.podsOf(node);
        if (pods.isEmpty()) {
            return "";
        }
        List<JsonNode> plugins =
                pods.get().stream().filter(DriverPods::isPlugin).toList();
        List<JsonNode> named =
                plugins.stream().filter(one -> one.toString().contains(driver)).toList();
        List<JsonNode> found = driver.isEmpty() || named.isEmpty() ? plugins : named;
        if (found.isEmpty()) {
            return "No pod on %s mounts the kubelet's folder %s: a driver that runs in a pod is not there."
                    .formatted(node, REGISTRY);
        }
        return found.size() == 1
                ? "The driver's pod on %s is %s: %s; `kubectl delete pod %s` restarts it."
                        .formatted(node, name(found.get(0)), log(found.get(0)), flags(found.get(0)))
                : "The driver's pod on %s is one of these, which mount the kubelet's folder %s: %s. `kubectl delete pod -n NAMESPACE NAME` restarts it."
                        .formatted(
                                node,
                                REGISTRY,
                                Names.some(found.stream().map(DriverPods::log).toList()));
    }

    private static boolean isPlugin(JsonNode pod) {
        return pod.at("/spec/volumes")
                .valueStream()
                .anyMatch(one -> one.at("/hostPath/path").asText().contains(REGISTRY));
    }

    private static String name(JsonNode pod) {
        return pod.at("/metadata/namespace").asText() + "/"
                + pod.at("/metadata/name").asText();
    }

    private static String flags(JsonNode pod) {
        return "-n %s %s"
                .formatted(
                        pod.at("/metadata/namespace").asText(),
                        pod.at("/metadata/name").asText());
    }

    private static String log(JsonNode pod) {
        return "`kubectl logs %s`".formatted(flags(pod));
    }
}
