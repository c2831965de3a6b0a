// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Cluster;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the devices on which an expression fails because they lack what it reads. */
record Lacking(Cluster cluster, Reclassified selectors, ObstacleWords words) {

    /**
     * Returns what to do about an attribute or a capacity that an expression reads: to correct the
     * expression if no device of the claims' classes has it, and to ask for it first if some do.
     *
     * @param id of the attribute, without its domain
     */
    String remedy(String id, List<Claim> claims) {
        List<SubRequest> reading = claims.stream()
                .flatMap(claim -> claim.requests().stream())
                .map(DeviceRequest::alternatives)
                .flatMap(List::stream)
                .filter(asked -> asked.selectors().stream().anyMatch(s -> s.contains(id)))
                .toList();
        List<DeviceId> having = new ArrayList<>();
        List<DeviceId> lacking = new ArrayList<>();
        sort(id, reading, having, lacking);
        if (having.isEmpty() && !lacking.isEmpty()) {
            DeviceId first = lacking.get(0);
            return "Correct the selector: no device that it is tried on has %s. For one, %s has %s"
                    .formatted(id, words.name(first), words.has(first));
        }
        String some = lacking.isEmpty()
                ? ""
                : ". These lack it: "
                        + Names.some(lacking.stream().map(words::name).toList());
        return "Have the selector ask first whether the device has it: \"%s\" in %s && ... One device without it fails the pod on all nodes%s"
                .formatted(id, map(id, reading), some);
    }

    private void sort(String id, List<SubRequest> reading, List<DeviceId> having, List<DeviceId> lacking) {
        Set<DeviceClass> classes = reading.stream()
                .map(SubRequest::deviceClass)
                .flatMap(name -> cluster.deviceClass(name).stream())
                .collect(Collectors.toSet());
        for (Slice slice : cluster.slices()) {
            for (Device device : slice.devices()) {
                DeviceId found = slice.id(device);
                if (classes.stream().anyMatch(one -> selectors.selects(one, found, cluster))) {
                    (lacks(device, id) ? lacking : having).add(found);
                }
            }
        }
    }

    private static boolean lacks(Device device, String id) {
        return Stream.of(device.attributes(), device.capacity())
                .flatMap(map -> map.keySet().stream())
                .noneMatch(name -> name.equals(id) || name.endsWith("/" + id));
    }

    /** The map from which the selectors read it, as they name it. */
    private static String map(String id, List<SubRequest> reading) {
        String name = Pattern.quote(id);
        Pattern read = Pattern.compile(
                "(device\\.(?:attributes|capacity)\\[[^\\]]+\\])(?:\\.%s\\b|\\[[\"']%s[\"']\\])".formatted(name, name));
        return reading.stream()
                .flatMap(asked -> asked.selectors().stream())
                .map(read::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst()
                .orElse("device.attributes[DOMAIN]");
    }
}
