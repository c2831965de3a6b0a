// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Pools of one driver as a scheduler sees them: a pool is complete when all slices of its newest
 * generation are there.
 *
 * @param newest the slices of each pool's newest generation, by the pool's name
 */
public record Pools(Map<String, List<JsonNode>> newest) {

    /** The pools of a driver's slices. */
    public static Pools of(List<JsonNode> slices) {
        Map<String, List<JsonNode>> pools =
                slices.stream()
                        .collect(
                                Collectors.groupingBy(
                                        slice -> slice.at("/spec/pool/name").asText(),
                                        TreeMap::new,
                                        Collectors.toList()));
        pools.replaceAll((pool, all) -> newest(all));
        return new Pools(pools);
    }

    private static List<JsonNode> newest(List<JsonNode> slices) {
        long generation = slices.stream().mapToLong(Pools::generation).max().orElseThrow();
        return slices.stream().filter(slice -> generation(slice) == generation).toList();
    }

    private static long generation(JsonNode slice) {
        return slice.at("/spec/pool/generation").asLong();
    }

    private static int count(List<JsonNode> slices) {
        return slices.get(0).at("/spec/pool/resourceSliceCount").asInt();
    }

    /** The pools that are complete. */
    Map<String, List<JsonNode>> complete() {
        Map<String, List<JsonNode>> complete = new TreeMap<>(newest);
        complete.values().removeIf(slices -> slices.size() != count(slices));
        return complete;
    }

    /** Returns whether there is a pool, and every pool is complete. */
    public boolean areComplete() {
        return !newest.isEmpty() && incomplete().isEmpty();
    }

    /** Describes the pools that are not complete, a clause each. */
    public List<String> incomplete() {
        return newest.entrySet().stream()
                .filter(pool -> pool.getValue().size() != count(pool.getValue()))
                .map(
                        pool ->
                                "pool %s has %d slices of generation %d, and resourceSliceCount is %d"
                                        .formatted(
                                                pool.getKey(),
                                                pool.getValue().size(),
                                                generation(pool.getValue().get(0)),
                                                count(pool.getValue())))
                .toList();
    }
}
