// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** A claim of a play. */
record PlayedClaim(String namespace, String name, String uid, JsonNode object) {

    static PlayedClaim of(JsonNode claim) {
        JsonNode metadata = claim.path("metadata");
        return new PlayedClaim(
                metadata.path("namespace").asText(),
                metadata.path("name").asText(),
                metadata.path("uid").asText(),
                claim);
    }

    /** The devices of a driver that the scheduler has allocated, as {@code pool/device}. */
    List<String> allocatedDevices(String driver) {
        List<String> devices = new ArrayList<>();
        for (JsonNode result : object.at("/status/allocation/devices/results")) {
            if (result.path("driver").asText().equals(driver)) {
                devices.add(result.path("pool").asText() + "/" + result.path("device").asText());
            }
        }
        return devices;
    }

    /** Another claim with the same allocation, as a later pod would bring it. */
    ObjectNode successor() {
        ObjectNode copy = object.deepCopy();
        ObjectNode metadata = copy.putObject("metadata");
        metadata.put("namespace", namespace).put("name", name + "-again");
        return copy;
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
