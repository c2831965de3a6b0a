// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The devices of one GPU.
 *
 * @param devices the devices with their hardware, in the order of allocation
 * @param counters the counters that they share; null if there are none
 * @param problems MIG devices that are left out, a sentence each
 */
record Offered(Map<Device, Offer> devices, @Nullable CounterSet counters, List<String> problems) {

    Offered {
        devices = Collections.unmodifiableMap(new LinkedHashMap<>(devices));
        problems = List.copyOf(problems);
    }
}
