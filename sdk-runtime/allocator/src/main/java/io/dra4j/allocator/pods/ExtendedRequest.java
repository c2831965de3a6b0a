// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.pods;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Quantities;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * A request that stands for an extended resource of a container, such as {@code example.com/gpu: 1}.
 *
 * <p>DRA provides a resource on a node if a class has its name and no device plugin offers it.
 *
 * @param name the name of the request, which init containers that end may share
 * @param endsBeforeNext whether the container ends before the next one starts
 */
public record ExtendedRequest(
        String container, String resource, String deviceClass, String name, long count, boolean endsBeforeNext) {
    private static final String ALWAYS = "Always";

    /**
     * Returns the requests of a pod, in the order of its containers and of their resources' names.
     *
     * @param offered whether a device plugin of the node offers a resource
     */
    public static List<ExtendedRequest> of(JsonNode pod, ResourceClasses classes, Predicate<String> offered) {
        List<ExtendedRequest> requests = new ArrayList<>();
        List<JsonNode> containers = new ArrayList<>();
        pod.at("/spec/initContainers").forEach(containers::add);
        int initContainers = containers.size();
        pod.at("/spec/containers").forEach(containers::add);
        for (int i = 0; i < containers.size(); i++) {
            JsonNode container = containers.get(i);
            boolean ends = i < initContainers
                    && !container.path("restartPolicy").asText().equals(ALWAYS);
            int j = 0;
            for (Map.Entry<String, Long> one : resources(container).entrySet()) {
                String name = "container-" + i + "-request-" + j++;
                Optional<String> deviceClass = classes.of(one.getKey());
                if (deviceClass.isPresent() && !offered.test(one.getKey())) {
                    requests.add(new ExtendedRequest(
                                    container.path("name").asText(),
                                    one.getKey(),
                                    deviceClass.get(),
                                    name,
                                    one.getValue(),
                                    ends)
                            .sharing(requests));
                }
            }
        }
        return requests;
    }

    /** Returns this request, sharing that of a container that ended before if possible. */
    private ExtendedRequest sharing(List<ExtendedRequest> before) {
        return before.stream()
                .filter(one -> one.endsBeforeNext && endsBeforeNext)
                .filter(one -> one.resource.equals(resource) && one.count >= count)
                .findFirst()
                .map(one -> new ExtendedRequest(container, resource, deviceClass, one.name, one.count, true))
                .orElse(this);
    }

    private static Map<String, Long> resources(JsonNode container) {
        Map<String, Long> resources = new TreeMap<>();
        for (String kind : List.of("limits", "requests")) {
            container
                    .path("resources")
                    .path(kind)
                    .properties()
                    .forEach(one -> resources.put(one.getKey(), count(one.getValue())));
        }
        return resources;
    }

    /** Returns an amount such as {@code 2}, {@code "2"} or {@code 1k}. */
    private static long count(JsonNode amount) {
        return Quantities.problem(amount).isEmpty()
                ? Quantities.exact(amount.asText())
                        .setScale(0, RoundingMode.UP)
                        .min(BigDecimal.valueOf(Long.MAX_VALUE))
                        .longValue()
                : 0;
    }
}
