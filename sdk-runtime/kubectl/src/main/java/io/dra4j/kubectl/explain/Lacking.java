// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Cluster;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the devices on which an expression fails because they lack what it reads. */
record Lacking(Cluster cluster, Reclassified selectors) {

    /**
     * Returns devices of the claims' classes without an attribute or a capacity.
     *
     * @param id of the attribute, without its domain
     */
    List<DeviceId> devices(String id, List<Claim> claims) {
        Set<DeviceClass> classes =
                claims.stream()
                        .flatMap(claim -> claim.requests().stream())
                        .map(DeviceRequest::alternatives)
                        .flatMap(List::stream)
                        .filter(asked -> reads(asked, id))
                        .map(SubRequest::deviceClass)
                        .flatMap(name -> cluster.deviceClass(name).stream())
                        .collect(Collectors.toSet());
        List<DeviceId> lacking = new ArrayList<>();
        for (Slice slice : cluster.slices()) {
            for (Device device : slice.devices()) {
                DeviceId found = slice.id(device);
                if (lacks(device, id)
                        && classes.stream()
                                .anyMatch(one -> selectors.selects(one, found, cluster))) {
                    lacking.add(found);
                }
            }
        }
        return lacking;
    }

    /** The attributes and capacities of a device, as they are named in its slice. */
    String has(DeviceId id) {
        Device device =
                cluster.slices(new PoolId(id.driver(), id.pool())).stream()
                        .flatMap(slice -> slice.devices().stream())
                        .filter(one -> one.name().equals(id.device()))
                        .findFirst()
                        .orElseThrow();
        return "%s and %s"
                .formatted(
                        named("attributes", device.attributes().keySet()),
                        named("capacities", device.capacity().keySet()));
    }

    private static String named(String kind, Set<String> names) {
        return names.isEmpty()
                ? "no " + kind
                : "the %s %s".formatted(kind, Names.some(new TreeSet<>(names)));
    }

    private static boolean reads(SubRequest asked, String id) {
        return asked.selectors().stream().anyMatch(one -> one.contains(id));
    }

    private static boolean lacks(Device device, String id) {
        return Stream.of(device.attributes(), device.capacity())
                .flatMap(map -> map.keySet().stream())
                .noneMatch(name -> name.equals(id) || name.endsWith("/" + id));
    }
}
