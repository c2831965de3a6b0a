// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.kubectl.read.ReadException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Finds out how to end pods permanently, which depends on their owners. */
record PodEndings(ObjectFinder objects) {
    private static final int MOST = 3;

    /** A pod that is known only by its name. */
    record PodName(String namespace, String name) {}

    /** An object that recreates a pod if it is deleted. */
    private record Owner(String kind, String name) {}

    /** The commands for some pods, as a part of a sentence; empty for none. */
    String of(List<PodName> pods) {
        Map<String, List<String>> podsByWay = new LinkedHashMap<>();
        pods.stream()
                .limit(MOST)
                .forEach(one -> podsByWay
                        .computeIfAbsent(way(one), key -> new ArrayList<>())
                        .add(one.name()));
        List<String> ways = new ArrayList<>();
        podsByWay.forEach(
                (way, some) -> ways.add(podsByWay.size() == 1 ? way : way + " (pod " + NameList.some(some) + ")"));
        return ways.isEmpty() ? "" : ": " + String.join(", ", ways);
    }

    private String way(PodName pod) {
        Optional<JsonNode> found;
        try {
            found = objects.pod(pod.namespace(), pod.name());
        } catch (ReadException e) {
            return "scale down what owns it, or it comes back";
        }
        if (found.isEmpty()) {
            return "it is already gone, and kube-controller-manager has to remove it from the claim";
        }
        String namespace = pod.namespace();
        return owner(found.get())
                .map(owner -> way(owner, namespace))
                .orElseGet(() -> "nothing owns it, `kubectl delete pod -n %s %s`".formatted(namespace, pod.name()));
    }

    private static String way(Owner owner, String namespace) {
        String kind = owner.kind().toLowerCase(Locale.ROOT);
        String command = switch (owner.kind()) {
            case "Deployment", "ReplicaSet", "StatefulSet" ->
                "`kubectl scale -n %s %s/%s --replicas=0`".formatted(namespace, kind, owner.name());
            case "Job" -> "`kubectl delete job -n %s %s`".formatted(namespace, owner.name());
            default -> "which recreates it";
        };
        return "%s %s owns it, %s".formatted(owner.kind(), owner.name(), command);
    }

    /** The owner; that of a ReplicaSet of a Deployment is known by their names. */
    private static Optional<Owner> owner(JsonNode pod) {
        return pod.at("/metadata/ownerReferences")
                .valueStream()
                .filter(one -> one.path("controller").asBoolean())
                .findFirst()
                .map(one ->
                        new Owner(one.path("kind").asText(), one.path("name").asText()))
                .map(one -> deployment(one, pod).orElse(one));
    }

    private static Optional<Owner> deployment(Owner owner, JsonNode pod) {
        String suffix =
                "-" + pod.at("/metadata/labels").path("pod-template-hash").asText();
        boolean isOfDeployment = owner.kind().equals("ReplicaSet")
                && suffix.length() > 1
                && owner.name().endsWith(suffix);
        return isOfDeployment
                ? Optional.of(new Owner(
                        "Deployment", owner.name().substring(0, owner.name().length() - suffix.length())))
                : Optional.empty();
    }
}
