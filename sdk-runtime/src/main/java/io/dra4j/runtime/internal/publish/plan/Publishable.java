// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of a pool that can be published on a server that leaves out some features.
 *
 * <p>A device that loses what guards it is withdrawn; any other is published without the feature,
 * as the server would keep it.
 *
 * @param pool the pool without what can't be published
 * @param leftOut the devices that lose a feature that they can do without
 * @param withdrawn the devices that are not published at all
 */
public record Publishable(
        Pool pool,
        Map<Feature, List<DeviceName>> leftOut,
        Map<Feature, List<DeviceName>> withdrawn) {

    /** Takes from a pool what the server would leave out. */
    public static Publishable of(Pool pool, Set<Feature> missing) {
        Map<Feature, List<DeviceName>> leftOut = new EnumMap<>(Feature.class);
        Map<Feature, List<DeviceName>> withdrawn = new EnumMap<>(Feature.class);
        List<Device> devices = new ArrayList<>(pool.devices());
        for (Feature feature : missing) {
            note(feature, withdrawn, devices.stream().filter(feature::guards).toList());
            devices.removeIf(feature::guards);
            note(
                    feature,
                    leftOut,
                    devices.stream()
                            .filter(feature::usedBy)
                            .filter(device -> !feature.isInOtherShape(device))
                            .toList());
            devices.replaceAll(d -> feature.usedBy(d) ? feature.without(d) : d);
        }
        Pool rest =
                pool.toBuilder()
                        .devices(devices)
                        .counterSets(
                                missing.contains(Feature.COUNTERS) ? List.of() : pool.counterSets())
                        .build();
        return new Publishable(rest, leftOut, withdrawn);
    }

    private static void note(
            Feature feature, Map<Feature, List<DeviceName>> notes, List<Device> devices) {
        if (!devices.isEmpty()) {
            notes.put(feature, devices.stream().map(Device::name).toList());
        }
    }
}
