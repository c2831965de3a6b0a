// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.claims.Allotment;
import io.dra4j.conformance.claims.Candidate;
import io.dra4j.testkit.cluster.Cluster;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A device in a slice of the driver under test.
 *
 * @param pool its pool
 * @param name its name
 * @param json all that is published of it
 * @param allotment what a claim gets that gets this device; null where claims have no certain shape
 */
public record PublishedDevice(
        String pool, String name, JsonNode json, @Nullable Allotment allotment) {

    /** A device of a slice, that a claim can get alone. */
    public PublishedDevice(String pool, JsonNode json) {
        this(pool, json.path("name").asText(), json);
    }

    /** A device that a claim can get alone. */
    public PublishedDevice(String pool, String name, JsonNode json) {
        this(pool, name, json, null);
    }

    /** Returns whether several claims may have it at a time, each with a share id. */
    public boolean isShared() {
        return allotment == null ? json.path("allowMultipleAllocations").asBoolean() : allotment.isShared();
    }

    /** The pools and names of all devices that a claim gets that gets this one. */
    public List<String> withCompanions() {
        return allotment == null
                ? List.of(toString())
                : allotment.devices().stream().map(Candidate::key).toList();
    }

    /** Returns whether a scheduler would not give it to a claim without tolerations. */
    public boolean isTainted() {
        return Cluster.elements(json.path("taints")).stream()
                .anyMatch(taint -> !taint.path("effect").asText().equals("None"));
    }

    /** Returns whether it has binding conditions. */
    public boolean isBound() {
        return !json.path("bindingConditions").isEmpty();
    }

    /** The counter sets that it takes from. */
    public Set<String> counterSets() {
        return Cluster.elements(json.path("consumesCounters")).stream()
                .map(one -> one.path("counterSet").asText())
                .collect(Collectors.toSet());
    }

    /** Its pool and name, for people. */
    @Override
    public String toString() {
        return pool + "/" + name;
    }
}
