// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.pods;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Quantities;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A container's use of a request that stands for an extended resource, such as {@code example.com/gpu: 1}.
 *
 * <p>DRA provides a resource on a node if a class has its name and no device plugin offers it.
 *
 * @param name the name of the request, which several containers may use
 * @param endsBeforeNext whether the container ends before the next one starts
 */
public record ExtendedRequest(
        String container, String resource, String deviceClass, String name, long count, boolean endsBeforeNext) {
    private static final String ALWAYS = "Always";

    /**
     * Returns the requests of a pod, in the order of the resources' names.
     *
     * @param offered whether a device plugin of the node offers a resource
     */
    public static List<ExtendedRequest> of(JsonNode pod, ResourceClasses classes, Predicate<String> offered) {
        List<JsonNode> containers = new ArrayList<>();
        pod.at("/spec/initContainers").forEach(containers::add);
        int initContainers = containers.size();
        pod.at("/spec/containers").forEach(containers::add);
        List<ExtendedRequest> requests = new ArrayList<>();
        for (String resource : resources(pod)) {
            if (!offered.test(resource)) {
                classes.of(resource)
                        .ifPresent(one -> requests.addAll(shared(IntStream.range(0, containers.size())
                                .mapToObj(i -> own(containers.get(i), i, i < initContainers, resource, one))
                                .filter(own -> own.count > 0)
                                .toList())));
            }
        }
        return requests;
    }

    /** Returns the names of the resources that a pod's containers want. */
    public static SortedSet<String> resources(JsonNode pod) {
        SortedSet<String> all = new TreeSet<>();
        for (String containers : List.of("initContainers", "containers")) {
            pod.path("spec")
                    .path(containers)
                    .forEach(one -> amounts(one).forEach((resource, amount) -> {
                        if (amount > 0) {
                            all.add(resource);
                        }
                    }));
        }
        return all;
    }

    private static ExtendedRequest own(JsonNode container, int i, boolean init, String resource, String deviceClass) {
        SortedMap<String, Long> amounts = amounts(container);
        return new ExtendedRequest(
                container.path("name").asText(),
                resource,
                deviceClass,
                "container-" + i + "-request-" + amounts.headMap(resource).size(),
                amounts.getOrDefault(resource, 0L),
                init && !container.path("restartPolicy").asText().equals(ALWAYS));
    }

    /** Lets the containers that end use the devices of later ones, and share one request for what they lack. */
    private static List<ExtendedRequest> shared(List<ExtendedRequest> own) {
        List<ExtendedRequest> shared = new ArrayList<>(own);
        shared.removeIf(ExtendedRequest::endsBeforeNext);
        List<ExtendedRequest> lacking = new ArrayList<>();
        for (ExtendedRequest one : own) {
            long lack = one.endsBeforeNext ? one.count : 0;
            for (ExtendedRequest later : own.subList(own.indexOf(one), own.size())) {
                if (lack > 0 && !later.endsBeforeNext) {
                    shared.add(one.using(later.name, later.count));
                    lack -= later.count;
                }
            }
            if (lack > 0) {
                lacking.add(one.using(one.name, lack));
            }
        }
        for (ExtendedRequest one : lacking) {
            ExtendedRequest most = Collections.max(lacking, Comparator.comparingLong(ExtendedRequest::count));
            shared.add(one.using(most.name, most.count));
        }
        return shared;
    }

    private ExtendedRequest using(String request, long devices) {
        return new ExtendedRequest(container, resource, deviceClass, request, devices, endsBeforeNext);
    }

    private static SortedMap<String, Long> amounts(JsonNode container) {
        SortedMap<String, Long> amounts = new TreeMap<>();
        for (String kind : List.of("limits", "requests")) {
            container
                    .path("resources")
                    .path(kind)
                    .properties()
                    .forEach(one -> amounts.put(one.getKey(), Quantities.count(one.getValue())));
        }
        return amounts;
    }
}
