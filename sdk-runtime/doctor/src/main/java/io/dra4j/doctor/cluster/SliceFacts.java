// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * The facts about a ResourceSlice that checks read.
 *
 * @param driver who published it
 * @param node the node of its devices; empty if it names no single node
 * @param slicesOfPool how many slices the generation has
 * @param hasDynamicMig whether it has MIG devices that are created when claims are prepared: they
 *     share the counters of their GPU
 */
record SliceFacts(
        String name,
        String driver,
        String node,
        String pool,
        long generation,
        long slicesOfPool,
        int devices,
        boolean hasDynamicMig) {

    /** Pools of different drivers may have the same name. */
    record PoolId(String driver, String pool) {}

    PoolId poolId() {
        return new PoolId(driver, pool);
    }

    /** Returns those of a pool's slices that are of its newest generation. */
    static List<SliceFacts> newest(List<SliceFacts> pool) {
        long newest = pool.stream().mapToLong(SliceFacts::generation).max().orElse(0);
        return pool.stream().filter(one -> one.generation() == newest).toList();
    }

    /** Returns whether a pool has as many slices as its newest generation should have. */
    static boolean areComplete(List<SliceFacts> pool) {
        List<SliceFacts> newest = newest(pool);
        return newest.size() == newest.get(0).slicesOfPool();
    }

    static SliceFacts of(JsonNode slice) {
        JsonNode spec = slice.path("spec");
        JsonNode pool = spec.path("pool");
        boolean dynamicMig = false;
        for (JsonNode device : spec.path("devices")) {
            dynamicMig |= device.at("/attributes/type/string").asText().equals("mig")
                    && !device.path("consumesCounters").isEmpty();
        }
        return new SliceFacts(
                slice.at("/metadata/name").asText(),
                spec.path("driver").asText(),
                spec.path("nodeName").asText(),
                pool.path("name").asText(),
                pool.path("generation").asLong(),
                pool.path("resourceSliceCount").asLong(),
                spec.path("devices").size(),
                dynamicMig);
    }
}
