// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Distributes named items over numbered slices so that placed items stay where they are, in any order.
 *
 * @param <T> what is placed: counter sets, with or without their devices
 * @param limit how many things a slice takes
 * @param first the index of the first slice
 * @param step how far the indexes of slices are from each other
 */
record Arrangement<T>(Function<T, Object> nameOf, int limit, int first, int step) {

    /**
     * Places all things: each in the slice that held it, else in the first with room, else in a new one.
     *
     * @param things what to place, in order
     * @param before what the slices held
     * @param taken the indexes in use; those used here are added
     * @return what each slice holds, in the order of the things; no slice is empty
     * @throws IllegalArgumentException if two things have one name
     */
    TreeMap<Integer, List<T>> place(List<T> things, Map<Integer, List<T>> before, Set<Integer> taken) {
        Map<Object, Integer> homes = homes(before);
        Map<Object, Integer> placed = keep(things, homes);
        taken.addAll(placed.values());
        settle(things, placed, taken);
        TreeMap<Integer, List<T>> slices = new TreeMap<>();
        for (T thing : things) {
            slices.computeIfAbsent(placed.get(nameOf.apply(thing)), index -> new ArrayList<>())
                    .add(thing);
        }
        return slices;
    }

    private Map<Object, Integer> homes(Map<Integer, List<T>> before) {
        Map<Object, Integer> homes = new HashMap<>();
        before.forEach((index, held) -> held.forEach(thing -> homes.put(nameOf.apply(thing), index)));
        return homes;
    }

    /** Leaves things where they were, as far as the limit goes, which may be lower than before. */
    private Map<Object, Integer> keep(List<T> things, Map<Object, Integer> homes) {
        Map<Object, Integer> placed = new HashMap<>();
        Map<Integer, Integer> sizes = new HashMap<>();
        Set<Object> names = new HashSet<>();
        for (T thing : things) {
            Object name = nameOf.apply(thing);
            if (!names.add(name)) {
                throw new IllegalArgumentException("the name " + name + " is used twice");
            }
            Integer home = homes.get(name);
            if (home != null && sizes.merge(home, 1, Integer::sum) <= limit) {
                placed.put(name, home);
            }
        }
        return placed;
    }

    private void settle(List<T> things, Map<Object, Integer> placed, Set<Integer> taken) {
        TreeMap<Integer, Integer> sizes = new TreeMap<>();
        placed.values().forEach(index -> sizes.merge(index, 1, Integer::sum));
        for (T thing : things) {
            Object name = nameOf.apply(thing);
            if (!placed.containsKey(name)) {
                int index = firstWithRoom(sizes, taken);
                sizes.merge(index, 1, Integer::sum);
                placed.put(name, index);
            }
        }
    }

    private int firstWithRoom(TreeMap<Integer, Integer> sizes, Set<Integer> taken) {
        for (Map.Entry<Integer, Integer> slice : sizes.entrySet()) {
            if (slice.getValue() < limit) {
                return slice.getKey();
            }
        }
        int index = first;
        while (!taken.add(index)) {
            index += step;
        }
        return index;
    }
}
