// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Pods: their containers must not request resources of device plugins that claims stand for.
 *
 * @param resources the names of the resources, such as {@code nvidia.com/gpu}
 */
record PodRule(Set<String> resources) implements Rule {

    PodRule {
        resources = Set.copyOf(resources);
    }

    @Override
    public boolean isFor(String group, String version, String kind) {
        return group.isEmpty() && version.equals("v1") && kind.equals("Pod");
    }

    @Override
    public List<Problem> problems(String kind, JsonNode object) {
        List<Problem> problems = new ArrayList<>();
        for (String list : List.of("initContainers", "containers")) {
            JsonNode containers = object.path("spec").path(list);
            for (int index = 0; index < containers.size(); index++) {
                String path = "spec.%s[%d].resources".formatted(list, index);
                JsonNode requested = containers.path(index).path("resources");
                problems.addAll(refused(path + ".limits", requested.path("limits")));
                problems.addAll(refused(path + ".requests", requested.path("requests")));
            }
        }
        return problems;
    }

    private List<Problem> refused(String path, JsonNode amounts) {
        return resources.stream()
                .sorted()
                .filter(amounts::has)
                .map(name -> new Problem(
                        "%s[%s]".formatted(path, name),
                        ("%s is not for pods of this namespace; request the device"
                                        + " by a ResourceClaimTemplate in"
                                        + " spec.resourceClaims, and by its name in"
                                        + " resources.claims of the container")
                                .formatted(name)))
                .toList();
    }

    @Override
    public String kinds() {
        return "Pod of v1";
    }
}
