// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.cluster.Cluster;
import io.dra4j.conformance.driver.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The devices that the driver publishes for its node, and a choice of them that claims can have.
 */
public final class Devices {

    private final Place place;
    private final Cluster cluster;

    Devices(Place place, Cluster cluster) {
        this.place = place;
        this.cluster = cluster;
    }

    /** The driver's slices that its node can use, as the API server has them now. */
    public List<JsonNode> slices() {
        return cluster
                .list(
                        Cluster.RESOURCE + "/resourceslices",
                        "fieldSelector=" + Cluster.encoded("spec.driver=" + place.driver()))
                .stream()
                .filter(slice -> reaches(slice.path("spec")))
                .toList();
    }

    private boolean reaches(JsonNode spec) {
        return place.node().equals(spec.path("nodeName").asText())
                || spec.path("nodeName").asText().isEmpty();
    }

    /**
     * The driver's pools that are complete, by name: the slices of each one's newest generation.
     */
    public Map<String, List<JsonNode>> pools() {
        Map<String, List<JsonNode>> pools = new TreeMap<>();
        slices().stream()
                .collect(Collectors.groupingBy(s -> s.at("/spec/pool/name").asText()))
                .forEach(
                        (pool, slices) -> {
                            List<JsonNode> newest = newest(slices);
                            if (newest.size()
                                    == newest.get(0).at("/spec/pool/resourceSliceCount").asInt()) {
                                pools.put(pool, newest);
                            }
                        });
        return pools;
    }

    private static List<JsonNode> newest(List<JsonNode> slices) {
        long generation = slices.stream().mapToLong(Devices::generation).max().orElseThrow();
        return slices.stream().filter(slice -> generation(slice) == generation).toList();
    }

    private static long generation(JsonNode slice) {
        return slice.at("/spec/pool/generation").asLong();
    }

    /** All devices of complete pools, by pool and name. */
    public List<PublishedDevice> all() {
        List<PublishedDevice> devices = new ArrayList<>();
        pools().forEach(
                        (pool, slices) ->
                                slices.forEach(
                                        slice ->
                                                slice.at("/spec/devices")
                                                        .forEach(
                                                                json ->
                                                                        devices.add(
                                                                                device(
                                                                                        pool,
                                                                                        json)))));
        devices.sort(
                Comparator.comparing(PublishedDevice::pool).thenComparing(PublishedDevice::name));
        return devices;
    }

    private static PublishedDevice device(String pool, JsonNode json) {
        return new PublishedDevice(pool, json.path("name").asText(), json);
    }

    /** The devices that claims can have all at the same time, without tolerations. */
    public List<PublishedDevice> usable() {
        Set<String> counterSets = new HashSet<>();
        List<PublishedDevice> usable = new ArrayList<>();
        for (PublishedDevice device : all()) {
            Set<String> takes =
                    device.counterSets().stream()
                            .map(set -> device.pool() + "/" + set)
                            .collect(Collectors.toSet());
            if (!device.isTainted()
                    && !device.isBound()
                    && takes.stream().noneMatch(counterSets::contains)) {
                counterSets.addAll(takes);
                usable.add(device);
            }
        }
        return usable;
    }

    /**
     * The first so many of the usable devices.
     *
     * @throws NotApplicable if there are not as many
     */
    public List<PublishedDevice> some(int count) {
        List<PublishedDevice> usable = usable();
        NotApplicable.unless(
                usable.size() >= count,
                "needs %d devices that claims can have at the same time; %d are published",
                count,
                usable.size());
        return usable.subList(0, count);
    }

    /**
     * The first so many of the usable devices, or as many as there are.
     *
     * @throws NotApplicable if there is none
     */
    public List<PublishedDevice> upTo(int most) {
        List<PublishedDevice> usable = usable();
        NotApplicable.unless(!usable.isEmpty(), "no device is published that claims can have now");
        return usable.subList(0, Math.min(most, usable.size()));
    }

    /** One usable device. */
    public PublishedDevice one() {
        return some(1).get(0);
    }
}
