// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The scheduling of partitionable devices: a claim gets the first device that has the profile and
 * whose counters are all free.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/issues/4815">KEP-4815</a>
 */
final class FirstFit {

    private final Map<String, List<Part>> parts = new HashMap<>();
    private final List<long[]> whole = new ArrayList<>();
    private List<long[]> free = new ArrayList<>();

    /**
     * A device that a claim got.
     *
     * @param name its name
     * @param gpu the position of the counters that it takes from
     * @param takes how much of each counter
     */
    record Part(String name, int gpu, long[] takes) {}

    /** The devices of a node, in the order in which they are looked at. */
    FirstFit(List<Device> devices, List<CounterSet> sets) {
        Map<String, List<String>> counters = new HashMap<>();
        Map<String, Integer> positions = new HashMap<>();
        for (CounterSet set : sets) {
            List<String> names = List.copyOf(set.counters().keySet());
            counters.put(set.name(), names);
            positions.put(set.name(), whole.size());
            whole.add(amounts(names, set.counters()));
        }
        for (Device device : devices) {
            if (device.attributes().get("profile") instanceof AttributeValue.OfString profile) {
                CounterConsumption takes = device.consumesCounters().get(0);
                List<String> names = counters.get(takes.counterSet());
                parts.computeIfAbsent(profile.value(), key -> new ArrayList<>())
                        .add(new Part(
                                device.name().value(),
                                positions.get(takes.counterSet()),
                                amounts(names, takes.counters())));
            }
        }
        clear();
    }

    private static long[] amounts(List<String> names, Map<String, Quantity> amounts) {
        if (!names.containsAll(amounts.keySet())) {
            throw new IllegalStateException(amounts + " are not all of " + names);
        }
        return names.stream()
                .mapToLong(name ->
                        amounts.getOrDefault(name, Quantity.of(0)).amount().longValueExact())
                .toArray();
    }

    /** Nobody has anything any more. */
    void clear() {
        free = new ArrayList<>();
        whole.forEach(amounts -> free.add(amounts.clone()));
    }

    /** Gives a claim its device; empty if none is free. */
    Optional<Part> take(String profile) {
        for (Part part : parts.getOrDefault(profile, List.of())) {
            if (isFree(part)) {
                add(part, -1);
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    /** Takes a device back. */
    void release(Part part) {
        add(part, 1);
    }

    private boolean isFree(Part part) {
        long[] left = free.get(part.gpu());
        for (int i = 0; i < left.length; i++) {
            if (left[i] < part.takes()[i]) {
                return false;
            }
        }
        return true;
    }

    private void add(Part part, int sign) {
        long[] left = free.get(part.gpu());
        for (int i = 0; i < left.length; i++) {
            left[i] += sign * part.takes()[i];
        }
    }
}
