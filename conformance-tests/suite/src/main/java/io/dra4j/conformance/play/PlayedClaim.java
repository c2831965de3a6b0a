// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;

/** A claim of a play. */
record PlayedClaim(KubeletClaim id, JsonNode object) {

    static PlayedClaim of(JsonNode claim) {
        JsonNode metadata = claim.path("metadata");
        return new PlayedClaim(
                new KubeletClaim(
                        metadata.path("namespace").asText(),
                        metadata.path("name").asText(),
                        metadata.path("uid").asText()),
                claim);
    }

    /** The devices of a driver that the scheduler has allocated, as {@code pool/device}. */
    List<String> allocatedDevices(String driver) {
        return ApiObjects.elements(object.at("/status/allocation/devices/results")).stream()
                .filter(result -> result.path("driver").asText().equals(driver))
                .map(result -> result.path("pool").asText() + "/"
                        + result.path("device").asText())
                .toList();
    }

    /** Returns whether it was made for a pod, and is deleted with it. */
    boolean isOfTemplate() {
        return !object.at("/metadata/ownerReferences").isEmpty();
    }

    @Override
    public String toString() {
        return id.namespace() + "/" + id.name();
    }
}
