// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The claim that a pod has for resources such as {@code example.com/gpu: 1} of its containers.
 *
 * <p>A resource is DRA's on a node where a DeviceClass has its name and no device plugin offers it.
 */
final class ExtendedResources {

    private static final String IMPLICIT = "deviceclass.resource.kubernetes.io/";
    private static final String ANNOTATION = "resource.kubernetes.io/extended-resource-claim";
    private static final String ALWAYS = "Always";

    private final ClusterObjects objects;

    ExtendedResources(ClusterObjects objects) {
        this.objects = objects;
    }

    /** A request of the claim, and the container and resource that it is for. */
    private record Wanted(
            String container,
            String resource,
            String deviceClass,
            String request,
            long count,
            boolean endsBeforeNext) {

        /** Returns the same with the request of a container that ended before. */
        private Wanted sharing(List<Wanted> before) {
            return before.stream()
                    .filter(one -> one.endsBeforeNext && endsBeforeNext)
                    .filter(one -> one.resource.equals(resource) && one.count >= count)
                    .findFirst()
                    .map(
                            one ->
                                    new Wanted(
                                            container,
                                            resource,
                                            deviceClass,
                                            one.request,
                                            one.count,
                                            true))
                    .orElse(this);
        }
    }

    /** The claim as the scheduler makes it up for a node, without a name. */
    Optional<Claim> claim(Pod pod, JsonNode node) {
        List<Wanted> wanted = wanted(pod, node);
        return wanted.isEmpty() || PodClaims.extended(pod).isPresent()
                ? Optional.empty()
                : Optional.of(new Claim(object(pod, wanted)));
    }

    /** Creates that claim, and enters it into the pod's status. */
    Optional<Claim> create(Pod pod, JsonNode node) {
        Optional<Claim> claim = claim(pod, node);
        if (claim.isEmpty()) {
            return claim;
        }
        JsonNode created = objects.put(claim.get().json());
        List<Wanted> wanted = wanted(pod, node);
        objects.changeStatus(
                Pod.RESOURCE,
                pod.namespace(),
                pod.name(),
                current -> remember(Json.child(current, "status"), new Claim(created), wanted));
        return Optional.of(new Claim(created));
    }

    private static void remember(ObjectNode status, Claim claim, List<Wanted> wanted) {
        ObjectNode extended = status.putObject("extendedResourceClaimStatus");
        extended.put("resourceClaimName", claim.name());
        for (Wanted one : wanted) {
            extended.withArray("requestMappings")
                    .addObject()
                    .put("containerName", one.container())
                    .put("resourceName", one.resource())
                    .put("requestName", one.request());
        }
    }

    private static ObjectNode object(Pod pod, List<Wanted> wanted) {
        ObjectNode claim =
                Json.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        ObjectNode metadata = Json.metadata(claim);
        metadata.put("namespace", pod.namespace());
        metadata.put("generateName", pod.name() + "-extended-resources-");
        Json.child(metadata, "annotations").put(ANNOTATION, "true");
        TemplateClaims.own(metadata, pod);
        Map<String, Wanted> requests = new TreeMap<>();
        wanted.forEach(one -> requests.putIfAbsent(one.request(), one));
        for (Wanted one : requests.values()) {
            claim.withObject("/spec/devices")
                    .withArray("requests")
                    .addObject()
                    .put("name", one.request())
                    .putObject("exactly")
                    .put("deviceClassName", one.deviceClass())
                    .put("allocationMode", "ExactCount")
                    .put("count", one.count());
        }
        return claim;
    }

    private List<Wanted> wanted(Pod pod, JsonNode node) {
        Map<String, String> classes = classes();
        List<Wanted> wanted = new ArrayList<>();
        List<JsonNode> specs = pod.containerSpecs();
        int initContainers = pod.json().at("/spec/initContainers").size();
        for (int i = 0; i < specs.size(); i++) {
            JsonNode spec = specs.get(i);
            boolean endsBeforeNext =
                    i < initContainers && !spec.path("restartPolicy").asText().equals(ALWAYS);
            int j = 0;
            for (Map.Entry<String, JsonNode> one : resources(spec).entrySet()) {
                String request = "container-%d-request-%d".formatted(i, j++);
                String deviceClass = classes.get(one.getKey());
                if (deviceClass != null && !isOffered(node, one.getKey())) {
                    wanted.add(
                            new Wanted(
                                            spec.path("name").asText(),
                                            one.getKey(),
                                            deviceClass,
                                            request,
                                            one.getValue().asLong(),
                                            endsBeforeNext)
                                    .sharing(wanted));
                }
            }
        }
        return wanted;
    }

    private static Map<String, JsonNode> resources(JsonNode container) {
        Map<String, JsonNode> resources = new TreeMap<>();
        for (String kind : List.of("limits", "requests")) {
            container
                    .path("resources")
                    .path(kind)
                    .properties()
                    .forEach(entry -> resources.put(entry.getKey(), entry.getValue()));
        }
        return resources;
    }

    private static boolean isOffered(JsonNode node, String resource) {
        return node.path("status").path("allocatable").path(resource).asLong() > 0;
    }

    /** The classes by their resources: of several the newest, then the first by name. */
    private Map<String, String> classes() {
        List<JsonNode> all = new ArrayList<>(objects.list("deviceclasses"));
        all.sort(
                Comparator.comparing(
                                (JsonNode one) -> one.at("/metadata/creationTimestamp").asText())
                        .reversed()
                        .thenComparing(one -> one.at("/metadata/name").asText()));
        Map<String, String> classes = new HashMap<>();
        for (JsonNode one : all) {
            String name = one.at("/metadata/name").asText();
            String resource = one.at("/spec/extendedResourceName").asText();
            if (!resource.isEmpty()) {
                classes.putIfAbsent(resource, name);
            }
            classes.putIfAbsent(IMPLICIT + name, name);
        }
        return classes;
    }
}
