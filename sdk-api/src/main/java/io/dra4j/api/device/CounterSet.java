// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Map;

/**
 * Counters that the devices of a pool share, such as the memory slices of a GPU.
 *
 * <p>The scheduler allocates no two devices whose consumption together exceeds a counter.
 *
 * @param name the set's name: a DNS label, unique in the pool
 * @param counters the counters by name (DNS labels), at least one, at most 32
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815</a>
 */
public record CounterSet(String name, Map<String, Quantity> counters) {

    /** Copies the map. */
    public CounterSet {
        counters = Map.copyOf(counters);
    }
}
