// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.testkit.cluster.ApiObjects;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The pools of a driver as a scheduler sees them at one moment: of each pool, the slices of the
 * newest generation count, and it is complete when none of them is missing.
 *
 * @param slices all slices of the driver that its node can use
 */
public record SeenPools(List<JsonNode> slices) {

    public SeenPools {
        slices = List.copyOf(slices);
    }

    public static String name(JsonNode slice) {
        return slice.at("/metadata/name").asText();
    }

    public static String pool(JsonNode slice) {
        return slice.at("/spec/pool/name").asText();
    }

    public static long generation(JsonNode slice) {
        return slice.at("/spec/pool/generation").asLong();
    }

    public Map<String, List<JsonNode>> byPool() {
        return slices.stream().collect(Collectors.groupingBy(SeenPools::pool, TreeMap::new, Collectors.toList()));
    }

    public static List<JsonNode> newest(List<JsonNode> pool) {
        long newest = pool.stream().mapToLong(SeenPools::generation).max().orElse(0);
        return pool.stream().filter(slice -> generation(slice) == newest).toList();
    }

    private Map<String, List<JsonNode>> newest() {
        Map<String, List<JsonNode>> newest = byPool();
        newest.replaceAll((pool, all) -> newest(all));
        return newest;
    }

    private static int count(JsonNode slice) {
        return slice.at("/spec/pool/resourceSliceCount").asInt();
    }

    /** The newest slices of the pools that are complete, by the count of their first slice. */
    Map<String, List<JsonNode>> complete() {
        Map<String, List<JsonNode>> complete = newest();
        complete.values().removeIf(newest -> newest.size() != count(newest.get(0)));
        return complete;
    }

    /** Returns whether there is a pool, and every pool is complete. */
    public boolean areComplete() {
        return !slices.isEmpty() && incomplete().isEmpty();
    }

    /** Describes the pools that are not complete, a clause each. */
    public List<String> incomplete() {
        Map<String, List<JsonNode>> incomplete = newest();
        incomplete.keySet().removeAll(complete().keySet());
        return incomplete.entrySet().stream()
                .map(pool -> "pool %s has %d slices of generation %d, and resourceSliceCount is %d"
                        .formatted(
                                pool.getKey(),
                                pool.getValue().size(),
                                generation(pool.getValue().get(0)),
                                count(pool.getValue().get(0))))
                .toList();
    }

    /** The newest slices of the pools that are complete by the count of each of them. */
    private Map<String, List<JsonNode>> consistent() {
        Map<String, List<JsonNode>> pools = newest();
        pools.entrySet()
                .removeIf(one -> incomplete(one.getKey(), one.getValue()).isPresent());
        return pools;
    }

    /** Why a scheduler would wait for more slices of a pool; empty if it would not. */
    private static Optional<String> incomplete(String pool, List<JsonNode> newest) {
        return newest.stream()
                .filter(slice -> count(slice) != newest.size())
                .map(slice ->
                        "slice %s gives pool %s the resourceSliceCount %s, but there are %d slices of generation %d"
                                .formatted(
                                        name(slice),
                                        pool,
                                        slice.at("/spec/pool/resourceSliceCount"),
                                        newest.size(),
                                        generation(slice)))
                .findFirst();
    }

    /** Why the pools are not settled; empty if they are. */
    public Optional<String> fault() {
        if (slices.isEmpty()) {
            return Optional.of("the driver has no slice for its node");
        }
        for (Map.Entry<String, List<JsonNode>> pool : byPool().entrySet()) {
            List<JsonNode> newest = newest(pool.getValue());
            if (newest.size() != pool.getValue().size()) {
                return Optional.of("pool %s has slices of several generations, %s"
                        .formatted(
                                pool.getKey(),
                                pool.getValue().stream()
                                        .map(SeenPools::generation)
                                        .distinct()
                                        .sorted()
                                        .toList()));
            }
            Optional<String> fault = incomplete(pool.getKey(), newest).or(() -> twice(pool.getKey(), newest));
            if (fault.isPresent()) {
                return fault;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> twice(String pool, List<JsonNode> newest) {
        Set<String> names = new HashSet<>();
        return devicesOf(newest).stream()
                .map(device -> device.path("name").asText())
                .filter(device -> !names.add(device))
                .findFirst()
                .map(device -> "pool %s has device %s twice".formatted(pool, device));
    }

    public static List<JsonNode> devicesOf(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> ApiObjects.elements(slice.at("/spec/devices")).stream())
                .toList();
    }

    public boolean settled() {
        return fault().isEmpty();
    }

    /** The devices of all pools that are complete. */
    public List<PublishedDevice> devices() {
        return devices(consistent());
    }

    static List<PublishedDevice> devices(Map<String, List<JsonNode>> pools) {
        List<PublishedDevice> devices = new ArrayList<>();
        pools.forEach(
                (pool, newest) -> devicesOf(newest).forEach(json -> devices.add(new PublishedDevice(pool, json))));
        return devices;
    }

    /**
     * The names of each pool's devices in the order in which a scheduler meets them: by the names
     * of slices, then by their positions in the slice.
     */
    public Map<String, List<String>> order() {
        Map<String, List<String>> order = new TreeMap<>();
        consistent().forEach((pool, newest) -> order.put(pool, order(newest)));
        return order;
    }

    private static List<String> order(List<JsonNode> slices) {
        return devicesOf(slices.stream()
                        .sorted(Comparator.comparing(SeenPools::name))
                        .toList())
                .stream()
                .map(device -> device.path("name").asText())
                .toList();
    }

    /** The names of their devices, with the pools' names. */
    public Set<String> deviceNames() {
        return devices().stream().map(PublishedDevice::toString).collect(Collectors.toSet());
    }

    /**
     * Returns the content of complete pools, in whichever slices it is: pools, devices and counter
     * sets, without the times of taints, which the server may add.
     */
    public Content content() {
        Map<String, JsonNode> content = new TreeMap<>();
        consistent().forEach((pool, newest) -> add(pool, newest, content));
        return Content.of(content);
    }

    /**
     * Returns the content that a scheduler may take for a pool: schedulers look at the count of one
     * slice, whichever comes first; empty if no slice makes the pool look complete.
     */
    public Content contentAtSight(String pool) {
        List<JsonNode> newest = newest(byPool().getOrDefault(pool, List.of()));
        Map<String, JsonNode> content = new TreeMap<>();
        if (newest.stream().anyMatch(slice -> count(slice) == newest.size())) {
            add(pool, newest, content);
        }
        return Content.of(content);
    }

    private static void add(String pool, List<JsonNode> newest, Map<String, JsonNode> content) {
        content.put("pool " + pool, BooleanNode.TRUE);
        for (JsonNode device : devicesOf(newest)) {
            JsonNode copy = device.deepCopy();
            copy.path("taints").forEach(taint -> ((ObjectNode) taint).remove("timeAdded"));
            content.put("device " + pool + "/" + device.path("name").asText(), copy);
        }
        for (JsonNode slice : newest) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                content.put("counter set " + pool + "/" + set.path("name").asText(), set);
            }
        }
    }

    public String difference(SeenPools wanted) {
        Set<String> have = content().parts().keySet();
        Set<String> want = wanted.content().parts().keySet();
        List<String> missing = want.stream().filter(k -> !have.contains(k)).toList();
        List<String> extra = have.stream().filter(k -> !want.contains(k)).toList();
        List<String> other = content().differences(wanted.content());
        missing.forEach(k -> other.remove(k + " is gone"));
        extra.forEach(k -> other.remove(k + " is new"));
        return fault().map(words -> words + "; ").orElse("")
                + "missing: %s, too many: %s, different: %s".formatted(few(missing), few(extra), few(other));
    }

    public static String few(List<String> all) {
        return all.size() <= 5 ? all.toString() : all.subList(0, 5) + " and " + (all.size() - 5) + " more";
    }

    /** Returns the version of each slice's object: the same until the next write. */
    public Content versions() {
        Map<String, JsonNode> versions = new TreeMap<>();
        for (JsonNode slice : slices) {
            JsonNode metadata = slice.path("metadata");
            String uid = metadata.path("uid").asText();
            String version = metadata.path("resourceVersion").asText();
            versions.put(name(slice), TextNode.valueOf("UID %s, resource version %s".formatted(uid, version)));
        }
        return Content.of(versions);
    }
}
