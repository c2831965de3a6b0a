// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.pods.ExtendedRequest;
import io.dra4j.allocator.pods.ResourceClasses;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The claim of a pod for resources such as {@code example.com/gpu: 1} of its containers. */
record ExtendedResources(ClusterObjects objects) {
    static final String ANNOTATION = "resource.kubernetes.io/extended-resource-claim";

    /** The claim as the scheduler creates it for a node, without a name. */
    Optional<ClaimView> claim(Pod pod, JsonNode node) {
        List<ExtendedRequest> wanted = wanted(pod, node);
        return wanted.isEmpty() || pod.extendedClaim().isPresent()
                ? Optional.empty()
                : Optional.of(new ClaimView(object(pod, wanted)));
    }

    /** Creates that claim, and enters it into the pod's status. */
    Optional<ClaimView> create(Pod pod, JsonNode node) {
        Optional<ClaimView> claim = claim(pod, node);
        if (claim.isEmpty()) {
            return claim;
        }
        JsonNode created = objects.put(claim.get().json());
        List<ExtendedRequest> wanted = wanted(pod, node);
        objects.changeStatus(
                Pod.RESOURCE,
                pod.namespace(),
                pod.name(),
                current -> remember(JsonTrees.child(current, "status"), new ClaimView(created), wanted));
        return Optional.of(new ClaimView(created));
    }

    private static void remember(ObjectNode status, ClaimView claim, List<ExtendedRequest> wanted) {
        ObjectNode extended = status.putObject("extendedResourceClaimStatus");
        extended.put("resourceClaimName", claim.name());
        for (ExtendedRequest one : wanted) {
            extended.withArray("requestMappings")
                    .addObject()
                    .put("containerName", one.container())
                    .put("resourceName", one.resource())
                    .put("requestName", one.name());
        }
    }

    private static ObjectNode object(Pod pod, List<ExtendedRequest> wanted) {
        ObjectNode claim =
                JsonTrees.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        ObjectNode metadata = JsonTrees.metadata(claim);
        metadata.put("namespace", pod.namespace());
        metadata.put("generateName", pod.name() + "-extended-resources-");
        JsonTrees.child(metadata, "annotations").put(ANNOTATION, "true");
        TemplateClaims.own(metadata, pod);
        Map<String, ExtendedRequest> requests = new TreeMap<>();
        wanted.forEach(one -> requests.putIfAbsent(one.name(), one));
        for (ExtendedRequest one : requests.values()) {
            claim.withObject("/spec/devices")
                    .withArray("requests")
                    .addObject()
                    .put("name", one.name())
                    .putObject("exactly")
                    .put("deviceClassName", one.deviceClass())
                    .put("allocationMode", "ExactCount")
                    .put("count", one.count());
        }
        return claim;
    }

    private List<ExtendedRequest> wanted(Pod pod, JsonNode node) {
        List<ResourceClasses.Entry> classes = objects.list("deviceclasses").stream()
                .map(one -> new ResourceClasses.Entry(
                        one.at("/metadata/name").asText(),
                        one.at("/spec/extendedResourceName").asText(),
                        one.at("/metadata/creationTimestamp").asText()))
                .toList();
        return ExtendedRequest.of(pod.json(), new ResourceClasses(classes), resource -> isOffered(node, resource));
    }

    private static boolean isOffered(JsonNode node, String resource) {
        return Quantities.count(node.path("status").path("allocatable").path(resource)) > 0;
    }
}
