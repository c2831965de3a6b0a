// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;

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
