// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;

/** Rules for the attribute that names the type of a slice's partitions. */
record PartitionTypeRules(AttributeKeys names) {

    void check(Field spec) {
        Field named = spec.at("partitionTypeAttribute");
        if (!named.present()) {
            return;
        }
        boolean partitions = spec.at("devices").value().valueStream().anyMatch(PartitionTypeRules::isPartition);
        named.requireThat(partitions, "may only be set on a slice which declares devices that consume counters");
        if (names.checkFullName(named) && partitions) {
            for (Field device : spec.at("devices").items()) {
                if (isPartition(device.value())) {
                    checkDevice(device, named.text(), spec.at("driver").text());
                }
            }
        }
    }

    private static boolean isPartition(JsonNode device) {
        return !device.path("consumesCounters").isEmpty();
    }

    /** An attribute of the driver's domain may also stand without its domain. */
    private static void checkDevice(Field device, String name, String driver) {
        JsonNode attributes = device.value().path("attributes");
        String prefix = driver + "/";
        String bare = name.startsWith(prefix) ? name.substring(prefix.length()) : name;
        Field attribute = device.at("attributes").key(name);
        if (!attributes.has(name) && !attributes.has(bare)) {
            attribute.required(
                    "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set");
            return;
        }
        JsonNode found = attributes.path(attributes.has(name) ? name : bare);
        String rule = "must be a string value because `partitionTypeAttribute` names this attribute";
        attribute.requireThat(found.has("string"), found, rule);
    }
}
