// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one GPU offers.
 *
 * @param devices the devices, in the order in which they should be taken
 * @param offers what their names stand for
 * @param counters what they share; null if nothing
 * @param troubles what is left out, a sentence each
 */
record Offered(
        List<Device> devices,
        Map<DeviceName, Offer> offers,
        @Nullable CounterSet counters,
        List<String> troubles) {

    Offered {
        devices = List.copyOf(devices);
        offers = Map.copyOf(offers);
        troubles = List.copyOf(troubles);
    }

    static Offered of(Map<Device, Offer> devices, List<String> troubles) {
        return of(devices, null, troubles);
    }

    /** Devices in the order of the map. */
    static Offered of(
            Map<Device, Offer> devices, @Nullable CounterSet counters, List<String> troubles) {
        Map<DeviceName, Offer> offers = new LinkedHashMap<>();
        devices.forEach((device, offer) -> offers.put(device.name(), offer));
        return new Offered(List.copyOf(devices.keySet()), offers, counters, troubles);
    }
}
