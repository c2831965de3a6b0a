// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.cluster.ApiObjects;
import java.util.List;

/**
 * A claim of a template, and what it gets.
 *
 * @param claim the template's kind and name
 * @param spec its {@code spec.devices}
 * @param allocation its {@code status.allocation}
 */
public record Allotment(String claim, JsonNode spec, ObjectNode allocation) {

    /** Its results, one per device. */
    public List<JsonNode> results() {
        return ApiObjects.elements(allocation.at("/devices/results"));
    }

    /** The pools and names of its devices. */
    public List<String> devices() {
        return results().stream()
                .map(one -> one.path("pool").asText() + "/" + one.path("device").asText())
                .toList();
    }

    /** Returns whether another claim may have shares of the same devices at the same time. */
    public boolean isShared() {
        return results().stream().allMatch(one -> one.has("shareID"));
    }
}
