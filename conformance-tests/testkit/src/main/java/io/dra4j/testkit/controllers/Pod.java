// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A pod, as far as its claims are concerned. */
record Pod(JsonNode json) {

    static final String RESOURCE = "pods";

    private static final Set<String> FINISHED = Set.of("Succeeded", "Failed");
    private static final String EXTENDED = "/status/extendedResourceClaimStatus";
    private static final String DEFAULT_SCHEDULER = "default-scheduler";

    /**
     * A claim of the pod.
     *
     * @param name its name in the pod
     * @param claim the name of its ResourceClaim; empty if that is not known yet
     * @param template the name of its template; empty if it has none
     * @param isDecided whether the claim was made, or is known not to be needed
     */
    record ClaimEntry(String name, String claim, String template, boolean isDecided) {}

    /** A claim, and one request of it that a container uses; empty for all. */
    record Use(String claim, String request) {}

    String namespace() {
        return json.at("/metadata/namespace").asText();
    }

    String name() {
        return json.at("/metadata/name").asText();
    }

    String uid() {
        return json.at("/metadata/uid").asText();
    }

    long revision() {
        return json.at("/metadata/resourceVersion").asLong();
    }

    /** The node that it is bound to; empty if it is not. */
    String node() {
        return json.at("/spec/nodeName").asText();
    }

    boolean isFinished() {
        return FINISHED.contains(json.at("/status/phase").asText());
    }

    boolean isRunning() {
        return json.at("/status/phase").asText().equals("Running");
    }

    boolean isDeleted() {
        return !json.at("/metadata/deletionTimestamp").isMissingNode();
    }

    /** Returns whether the default scheduler places it. */
    boolean isToBeScheduled() {
        String scheduler = json.at("/spec/schedulerName").asText(DEFAULT_SCHEDULER);
        return node().isEmpty()
                && !isFinished()
                && !isDeleted()
                && json.at("/spec/schedulingGates").isEmpty()
                && (scheduler.isEmpty() || scheduler.equals(DEFAULT_SCHEDULER));
    }

    List<ClaimEntry> claims() {
        List<ClaimEntry> entries = new ArrayList<>();
        for (JsonNode entry : json.at("/spec/resourceClaims")) {
            String name = entry.path("name").asText();
            String claim = entry.path("resourceClaimName").asText();
            String template = entry.path("resourceClaimTemplateName").asText();
            boolean isDecided = template.isEmpty();
            for (JsonNode status : json.at("/status/resourceClaimStatuses")) {
                if (status.path("name").asText().equals(name)) {
                    claim = status.path("resourceClaimName").asText();
                    isDecided = true;
                }
            }
            entries.add(new ClaimEntry(name, claim, template, isDecided));
        }
        return entries;
    }

    /** The init containers and then the others. */
    List<JsonNode> containerSpecs() {
        List<JsonNode> specs = new ArrayList<>();
        json.at("/spec/initContainers").forEach(specs::add);
        json.at("/spec/containers").forEach(specs::add);
        return specs;
    }

    /** The names of its claims, that of its extended resources last. */
    List<String> claimNames() {
        List<String> names = new ArrayList<>();
        for (ClaimEntry entry : claims()) {
            if (!entry.claim().isEmpty()) {
                names.add(entry.claim());
            }
        }
        extendedClaim().ifPresent(names::add);
        return names;
    }

    /** The name of the claim of its extended resources. */
    Optional<String> extendedClaim() {
        String name = json.at(EXTENDED + "/resourceClaimName").asText();
        return name.isEmpty() ? Optional.empty() : Optional.of(name);
    }

    /** Returns the uses of a container: the claims that it names, and those of its extended resources. */
    List<Use> uses(String container) {
        List<Use> uses = new ArrayList<>();
        for (JsonNode spec : containerSpecs()) {
            if (spec.path("name").asText().equals(container)) {
                spec.at("/resources/claims").forEach(one -> use(one).ifPresent(uses::add));
            }
        }
        for (JsonNode mapping : json.at(EXTENDED + "/requestMappings")) {
            if (mapping.path("containerName").asText().equals(container)) {
                String request = mapping.path("requestName").asText();
                extendedClaim().ifPresent(claim -> uses.add(new Use(claim, request)));
            }
        }
        return uses;
    }

    private Optional<Use> use(JsonNode use) {
        return claims().stream()
                .filter(entry -> entry.name().equals(use.path("name").asText()))
                .filter(entry -> !entry.claim().isEmpty())
                .map(entry -> new Use(entry.claim(), use.path("request").asText()))
                .findFirst();
    }

    @Override
    public String toString() {
        return namespace() + "/" + name();
    }
}
