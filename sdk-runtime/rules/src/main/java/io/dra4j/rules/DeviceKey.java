// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The identity of an allocated device; for a share, the id is part of it. */
record DeviceKey(String driver, String pool, String device, String shareId) {

    static DeviceKey of(JsonNode device) {
        return new DeviceKey(
                device.path("driver").asText(),
                device.path("pool").asText(),
                device.path("device").asText(),
                device.path("shareID").asText());
    }

    static Set<String> allocated(JsonNode claim) {
        return claim.path("status")
                .path("allocation")
                .path("devices")
                .path("results")
                .valueStream()
                .map(device -> of(device).toString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the form in which the server shows it in messages. */
    ObjectNode shown() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("Driver", driver)
                .put("Pool", pool)
                .put("Device", device)
                .put("ShareID", shareId);
    }

    @Override
    public String toString() {
        return String.join("/", driver, pool, device, shareId);
    }
}
