// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Map;

/**
 * The amounts that a device takes of a counter set of its pool while it is allocated.
 *
 * @param counterSet the name of the counter set
 * @param counters the amounts by counter name, at least one, at most 32
 * @see CounterSet
 */
public record CounterConsumption(String counterSet, Map<String, Quantity> counters) {

    /** Copies the map. */
    public CounterConsumption {
        counters = Map.copyOf(counters);
    }
}
