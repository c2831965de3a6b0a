// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Spreads devices over slices so that the slices, in the order of their indexes, have the devices in the order of the
 * inventory, and so that as few slices as possible change.
 *
 * <p>A slice may stay if its devices still follow one another. Of all such slices a longest run stays: one slice after
 * the other, in both orders, with the fewest changes in the gaps between them. A gap changes as many slices as it has,
 * or as its devices need, if that is more; new slices get indexes between those of their neighbours. Where there is no
 * index left for them, neighbours have to move, too.
 *
 * <p>So a device that goes changes one slice at most, and one that comes two: the slice that it belongs in and, if that
 * is full, a neighbour.
 *
 * @param limit how many devices a slice takes
 * @param indexes the indexes that devices may have
 */
record OrderedArrangement(int limit, SliceIndexes indexes) {

    /** More than there can be new slices: one slice that changes weighs more than all of them. */
    private static final long CHANGE = 1L << 32;

    private static final long IMPOSSIBLE = Long.MAX_VALUE / 4;

    /**
     * Devices that follow one another in the inventory.
     *
     * @param index the index of the slice that has them
     * @param place the place of the slice among those before
     * @param from the place of the first device in the inventory
     * @param to the place after the last
     */
    private record Run(int index, int place, int from, int to) {}

    /**
     * Places all devices.
     *
     * @param devices what to place, in order
     * @param before what the slices held
     * @return what each slice holds; no slice is empty
     * @throws IllegalArgumentException if two devices bear one name
     */
    TreeMap<Integer, List<Device>> place(List<Device> devices, NavigableMap<Integer, List<Device>> before) {
        List<Integer> slices = List.copyOf(before.keySet());
        List<Run> staying = staying(runs(devices, before), slices, devices.size());
        Map<DeviceName, Integer> homes = new HashMap<>();
        before.forEach((index, held) -> held.forEach(it -> homes.put(it.name(), index)));
        TreeMap<Integer, List<Device>> placed = new TreeMap<>();
        for (int i = 1; i < staying.size(); i++) {
            Run low = staying.get(i - 1);
            Run high = staying.get(i);
            List<Integer> between = slices.subList(low.place() + 1, high.place());
            List<Device> some = devices.subList(low.to(), high.from());
            placed.putAll(new Gap(limit, indexes, low.index(), high.index(), between).fill(some, homes));
            placed.put(high.index(), devices.subList(high.from(), high.to()));
        }
        placed.values().removeIf(List::isEmpty);
        placed.replaceAll((index, some) -> List.copyOf(some));
        return placed;
    }

    /** Returns the slices that may stay as they are, between an empty begin and an empty end. */
    private List<Run> runs(List<Device> devices, NavigableMap<Integer, List<Device>> before) {
        Map<DeviceName, Integer> places = places(devices);
        List<Run> runs = new ArrayList<>();
        runs.add(new Run(SliceIndexes.BEGIN, -1, 0, 0));
        int place = 0;
        for (Map.Entry<Integer, List<Device>> slice : before.entrySet()) {
            List<Device> held = slice.getValue();
            int from = held.isEmpty() ? -1 : places.getOrDefault(held.get(0).name(), -1);
            if (from >= 0 && held.size() <= limit && follow(held, from, places)) {
                runs.add(new Run(slice.getKey(), place, from, from + held.size()));
            }
            place++;
        }
        runs.add(new Run(SliceIndexes.END, place, devices.size(), devices.size()));
        return runs;
    }

    private static Map<DeviceName, Integer> places(List<Device> devices) {
        Map<DeviceName, Integer> places = new HashMap<>();
        for (Device device : devices) {
            if (places.put(device.name(), places.size()) != null) {
                throw new IllegalArgumentException("the name " + device.name() + " is there twice");
            }
        }
        return places;
    }

    private static boolean follow(List<Device> held, int from, Map<DeviceName, Integer> places) {
        for (int i = 0; i < held.size(); i++) {
            if (places.getOrDefault(held.get(i).name(), -1) != from + i) {
                return false;
            }
        }
        return true;
    }

    /** Finds the cheapest way from the begin to the end: the runs on it stay. */
    private List<Run> staying(List<Run> runs, List<Integer> slices, int devices) {
        long[] costs = new long[runs.size()];
        int[] previous = new int[runs.size()];
        for (int to = 1; to < runs.size(); to++) {
            costs[to] = IMPOSSIBLE;
            for (int from = 0; from < to; from++) {
                long cost = costs[from] + cost(runs.get(from), runs.get(to));
                if (cost < costs[to]) {
                    costs[to] = cost;
                    previous[to] = from;
                }
            }
        }
        List<Run> staying = new ArrayList<>();
        for (int at = runs.size() - 1; at > 0; at = previous[at]) {
            staying.add(runs.get(at));
        }
        staying.add(runs.get(0));
        Collections.reverse(staying);
        return staying;
    }

    private long cost(Run low, Run high) {
        int devices = high.from() - low.to();
        int there = high.place() - low.place() - 1;
        int needed = Gap.slices(devices, limit);
        if (devices < 0 || needed > indexes.freeBetween(low.index(), high.index())) {
            return IMPOSSIBLE;
        }
        return Math.max(there, needed) * CHANGE + Math.max(0, needed - there);
    }
}
