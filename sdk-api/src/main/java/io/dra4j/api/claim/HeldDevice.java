// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A device, or share of a device, that a claim holds on this node.
 *
 * @param request the name of the request in the claim
 * @param subrequest the alternative that was chosen in a prioritized list, or {@code null}
 * @param pool the device's pool
 * @param device the device; it may have left the inventory since
 * @param shareId the share, or {@code null}
 * @param consumedCapacity how much of the device's capacities the share has, by name
 * @param adminAccess whether the device is held for administration, which excludes no other claim
 */
public record HeldDevice(
        String request,
        @Nullable String subrequest,
        PoolName pool,
        DeviceName device,
        @Nullable String shareId,
        Map<String, Quantity> consumedCapacity,
        boolean adminAccess) {

    /** Copies the map. */
    public HeldDevice {
        consumedCapacity = Map.copyOf(consumedCapacity);
    }
}
