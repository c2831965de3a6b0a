// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.Cluster;
import java.util.List;

/**
 * A DeviceClass of {@code driver.claims}.
 *
 * @param selectors what a device must match
 * @param configs the entries that each claim of the class gets
 */
record DeviceClass(String name, List<Selector> selectors, List<JsonNode> configs) {

    static DeviceClass of(JsonNode manifest) {
        String name = manifest.at("/metadata/name").asText();
        JsonNode spec = manifest.path("spec");
        return new DeviceClass(name, Selector.all(spec, "DeviceClass " + name), Cluster.elements(spec.path("config")));
    }
}
