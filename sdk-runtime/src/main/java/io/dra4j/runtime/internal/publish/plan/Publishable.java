// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.NodeAllocatableCodec;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The part of a pool that can be published on a server that leaves out some features.
 *
 * <p>A device that loses a field that guards it is withdrawn; any other is published without the feature,
 * as the server would keep it.
 *
 * @param pool the pool without what can't be published
 * @param leftOut the devices that lose a feature that they do not need
 * @param withdrawn the devices that are not published at all
 */
public record Publishable(Pool pool, Map<Feature, List<DeviceName>> leftOut, Map<Feature, List<DeviceName>> withdrawn) {

    /** Removes from a pool what the server would drop. */
    public static Publishable of(Pool pool, Set<Feature> missing) {
        Map<Feature, List<DeviceName>> leftOut = new EnumMap<>(Feature.class);
        Map<Feature, List<DeviceName>> withdrawn = new EnumMap<>(Feature.class);
        Pool rest = with(pool, NodeAllocatableCodec::inAllShapes);
        for (Feature feature : missing) {
            Pool all = rest;
            List<Device> devices = new ArrayList<>(all.devices());
            Predicate<Device> withheld = device -> feature.withholds(all, device, missing);
            note(feature, withdrawn, devices.stream().filter(withheld).toList());
            devices.removeIf(withheld);
            note(
                    feature,
                    leftOut,
                    devices.stream().filter(it -> feature.leavesOutOf(all, it)).toList());
            rest = feature.without(all.toBuilder().devices(devices).build());
        }
        return new Publishable(with(rest, Publishable::asRawFields), leftOut, withdrawn);
    }

    private static Pool with(Pool pool, UnaryOperator<Device> change) {
        return pool.toBuilder()
                .devices(pool.devices().stream().map(change).toList())
                .build();
    }

    /** Only the raw fields, in the form of the server's release, are sent. */
    private static Device asRawFields(Device device) {
        return device.nodeAllocatableResources().isEmpty()
                ? device
                : device.toBuilder().nodeAllocatableResources(Map.of()).build();
    }

    private static void note(Feature feature, Map<Feature, List<DeviceName>> notes, List<Device> devices) {
        if (!devices.isEmpty()) {
            notes.put(feature, devices.stream().map(Device::name).toList());
        }
    }
}
