// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the claims of a pod, and of each of its containers. */
final class PodClaims {

    private static final String EXTENDED = "/status/extendedResourceClaimStatus";

    private PodClaims() {}

    /** A claim, and one request of it that a container uses; empty for all. */
    record Use(String claim, String request) {}

    /** The names of the pod's claims, that of its extended resources last. */
    static List<String> names(Pod pod) {
        List<String> names = new ArrayList<>();
        for (Pod.ClaimEntry entry : pod.claims()) {
            if (!entry.claim().isEmpty()) {
                names.add(entry.claim());
            }
        }
        extended(pod).ifPresent(names::add);
        return names;
    }

    static Optional<String> extended(Pod pod) {
        String name = pod.json().at(EXTENDED + "/resourceClaimName").asText();
        return name.isEmpty() ? Optional.empty() : Optional.of(name);
    }

    /** Returns the uses of a container: the claims that it names, and those of its extended resources. */
    static List<Use> of(Pod pod, String container) {
        List<Use> uses = new ArrayList<>();
        for (JsonNode spec : pod.containerSpecs()) {
            if (spec.path("name").asText().equals(container)) {
                spec.at("/resources/claims").forEach(one -> find(pod, one).ifPresent(uses::add));
            }
        }
        for (JsonNode mapping : pod.json().at(EXTENDED + "/requestMappings")) {
            if (mapping.path("containerName").asText().equals(container)) {
                String request = mapping.path("requestName").asText();
                extended(pod).ifPresent(claim -> uses.add(new Use(claim, request)));
            }
        }
        return uses;
    }

    private static Optional<Use> find(Pod pod, JsonNode use) {
        return pod.claims().stream()
                .filter(entry -> entry.name().equals(use.path("name").asText()))
                .filter(entry -> !entry.claim().isEmpty())
                .map(entry -> new Use(entry.claim(), use.path("request").asText()))
                .findFirst();
    }
}
