// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
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
 * @param leftOut the GPU, or MIG devices, that are not offered
 */
record Offered(Map<Device, Offer> devices, @Nullable CounterSet counters, List<LeftOut> leftOut) {

    static Offered of(Map<Device, Offer> devices) {
        return new Offered(devices, null, List.of());
    }

    Offered {
        devices = Collections.unmodifiableMap(new LinkedHashMap<>(devices));
        leftOut = List.copyOf(leftOut);
    }
}
