// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.allocator.pods.ExtendedRequest;
import io.dra4j.allocator.pods.ResourceClasses;
import io.dra4j.kubectl.read.NodeInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The claim that a scheduler creates for a pod's extended resources, which differs by node. */
final class Extended {
    private final ResourceClasses classes;
    private final JsonNode pod; // missing if there is none, or if its claim is made

    Extended(Snapshot snapshot, Subject subject) {
        this.classes = classes(snapshot);
        JsonNode given = subject.pod();
        this.pod = given == null || given.at("/status").has("extendedResourceClaimStatus")
                ? MissingNode.getInstance()
                : given;
    }

    private static ResourceClasses classes(Snapshot snapshot) {
        List<ResourceClasses.Entry> entries = new ArrayList<>();
        snapshot.cluster().classes().forEach(one -> entries.add(new ResourceClasses.Entry(one.name(), "", "")));
        snapshot.classResources()
                .forEach(one ->
                        entries.add(new ResourceClasses.Entry(one.deviceClass(), one.resource(), one.created())));
        return new ResourceClasses(entries);
    }

    /** The claim for a node; none if the node's device plugins have all that the pod wants. */
    Optional<Claim> claim(NodeInfo node) {
        Map<String, DeviceRequest> requests = new TreeMap<>();
        ExtendedRequest.of(pod, classes, one -> node.allocatable().getOrDefault(one, 0L) > 0)
                .forEach(one -> requests.putIfAbsent(one.name(), request(one)));
        return requests.isEmpty()
                ? Optional.empty()
                : Optional.of(new Claim(
                        pod.at("/metadata/namespace").asText("default"),
                        pod.at("/metadata/name").asText() + "-extended-resources",
                        List.copyOf(requests.values()),
                        List.of(),
                        List.of()));
    }

    private static DeviceRequest request(ExtendedRequest one) {
        SubRequest asked = new SubRequest(
                one.name(),
                one.deviceClass(),
                List.of(),
                SubRequest.EXACT_COUNT,
                one.count(),
                false,
                List.of(),
                Map.of());
        return new DeviceRequest(one.name(), false, List.of(asked));
    }

    /** Returns which resources nothing on a node offers: neither a plugin nor a class. */
    String missing(NodeInfo node) {
        TreeSet<String> missing = new TreeSet<>();
        resources().forEach(one -> {
            if (classes.of(one).isEmpty() && node.allocatable().getOrDefault(one, 0L) == 0) {
                missing.add(one);
            }
        });
        return missing.isEmpty()
                ? ""
                : "no device plugin offers %s, and no DeviceClass has that name"
                        .formatted(String.join(" and ", missing));
    }

    /** States that a node's device plugins have what the pod wants; empty if it wants nothing. */
    String ofPlugin(NodeInfo node) {
        List<String> offered = resources().stream()
                .filter(one -> node.allocatable().getOrDefault(one, 0L) > 0)
                .toList();
        return offered.isEmpty()
                ? ""
                : "a device plugin of the node offers %s, so the pod has to get it from the plugin"
                        .formatted(String.join(" and ", offered));
    }

    /** Returns a text with the pod's resources in place of the requests that stand for them. */
    String named(String text) {
        String named = text;
        for (ExtendedRequest one : ExtendedRequest.of(pod, classes, resource -> false)) {
            String resource = "%s of container %s".formatted(one.resource(), one.container());
            String request = "request " + one.name();
            named = named.replace(request + " of claim " + claimName(), resource)
                    .replace(request, resource);
        }
        return named;
    }

    private String claimName() {
        return "%s/%s-extended-resources"
                .formatted(
                        pod.at("/metadata/namespace").asText("default"),
                        pod.at("/metadata/name").asText());
    }

    /** States which resources stand for claims, and which a device plugin offers. */
    List<String> notes(List<NodeInfo> nodes) {
        List<String> notes = new ArrayList<>();
        for (String resource : resources()) {
            Optional<String> deviceClass = classes.of(resource);
            List<String> offering = nodes.stream()
                    .filter(one -> one.allocatable().getOrDefault(resource, 0L) > 0)
                    .map(NodeInfo::name)
                    .toList();
            deviceClass.ifPresent(
                    one -> notes.add("Resource %s stands for DeviceClass %s where no device plugin offers it."
                            .formatted(resource, one)));
            if (!offering.isEmpty()) {
                notes.add("A device plugin offers %s on %s.".formatted(resource, NameList.some(offering)));
            }
        }
        return notes;
    }

    /** The extended resources of all containers. */
    SortedSet<String> resources() {
        SortedSet<String> all = ExtendedRequest.resources(pod);
        all.removeIf(one -> !one.contains("/"));
        return all;
    }
}
