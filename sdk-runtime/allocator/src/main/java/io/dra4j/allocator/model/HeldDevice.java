// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/**
 * A device that a claim has according to its status.
 *
 * @param shareId empty unless the claim has a share of it
 * @param consumedCapacity what the share consumes
 */
public record HeldDevice(DeviceId id, boolean adminAccess, String shareId, Map<String, Quantity> consumedCapacity) {

    static HeldDevice of(JsonNode json) {
        return new HeldDevice(
                new DeviceId(
                        JsonFields.shared(json, "driver"),
                        JsonFields.shared(json, "pool"),
                        JsonFields.shared(json, "device")),
                json.path("adminAccess").asBoolean(),
                JsonFields.text(json, "shareID"),
                JsonFields.map(json, "consumedCapacity", Quantity::of));
    }

    /** Returns whether others cannot have the device. */
    public boolean isExclusive() {
        return !adminAccess && shareId.isEmpty();
    }

    /** Returns whether others can have the rest of the device. */
    public boolean isShare() {
        return !adminAccess && !shareId.isEmpty();
    }
}
