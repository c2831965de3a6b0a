// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.Slice;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Finds what makes a pool invalid. */
final class PoolProblems {
    private PoolProblems() {}

    /** Returns a problem of duplicate device names, or an empty string. */
    static String ofNames(List<Slice> slices) {
        Set<String> names = new HashSet<>();
        return devices(slices)
                .filter(device -> !names.add(device.name()))
                .findFirst()
                .map(device -> "duplicate device name " + device.name())
                .orElse("");
    }

    /** Returns a problem of counters, or an empty string. */
    static String ofCounters(List<Slice> slices) {
        Map<String, CounterSet> sets = new HashMap<>();
        for (Slice slice : slices) {
            for (CounterSet set : slice.sharedCounters()) {
                if (sets.put(set.name(), set) != null) {
                    return "duplicate counter set name " + set.name();
                }
            }
        }
        return devices(slices)
                .flatMap(device -> unknownCounter(device, sets).stream())
                .findFirst()
                .orElse("");
    }

    private static Stream<Device> devices(List<Slice> slices) {
        return slices.stream().flatMap(slice -> slice.devices().stream());
    }

    private static Optional<String> unknownCounter(Device device, Map<String, CounterSet> sets) {
        for (CounterSet consumed : device.consumes()) {
            CounterSet set = sets.get(consumed.name());
            if (set == null) {
                return Optional.of("counter set %s not found".formatted(consumed.name()));
            }
            for (String counter : consumed.counters().keySet()) {
                if (!set.counters().containsKey(counter)) {
                    return Optional.of("counter %s not found in counter set %s".formatted(counter, set.name()));
                }
            }
        }
        return Optional.empty();
    }
}
