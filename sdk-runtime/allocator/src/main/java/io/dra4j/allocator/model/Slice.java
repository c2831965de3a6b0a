// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A {@code ResourceSlice}.
 *
 * @param sliceCount the number of slices that its pool has in this generation
 * @param nodes the nodes where its devices can be used
 * @param perDevice whether each device has its own nodes instead
 * @param sharedCounters the counters that devices of the pool consume
 */
public record Slice(
        String name,
        PoolId pool,
        long generation,
        long sliceCount,
        NodeChoice nodes,
        boolean perDevice,
        List<CounterSet> sharedCounters,
        List<Device> devices) {

    /**
     * Reads a {@code ResourceSlice} of any version of the API.
     *
     * @throws InvalidObjectException if a quantity is malformed
     */
    public static Slice of(JsonNode json) {
        String name = JsonFields.text(json.path("metadata"), "name");
        return JsonFields.at("ResourceSlice " + name, () -> of(name, json.path("spec")));
    }

    private static Slice of(String name, JsonNode spec) {
        JsonNode pool = spec.path("pool");
        return new Slice(
                name,
                new PoolId(JsonFields.shared(spec, "driver"), JsonFields.shared(pool, "name")),
                pool.path("generation").asLong(),
                pool.path("resourceSliceCount").asLong(),
                NodeChoice.of(spec),
                spec.path("perDeviceNodeSelection").asBoolean(),
                JsonFields.list(spec, "sharedCounters", one -> CounterSet.of(one, "name")),
                JsonFields.list(spec, "devices", Device::of));
    }

    public Slice onAllNodes() {
        return new Slice(name, pool, generation, sliceCount, NodeChoice.ALL, false, sharedCounters, devices);
    }

    public Slice withoutCounters() {
        return new Slice(
                name,
                pool,
                generation,
                sliceCount,
                nodes,
                perDevice,
                sharedCounters,
                devices.stream().map(Device::withoutCounters).toList());
    }

    public DeviceId id(Device device) {
        return new DeviceId(pool.driver(), pool.pool(), device.name());
    }
}
