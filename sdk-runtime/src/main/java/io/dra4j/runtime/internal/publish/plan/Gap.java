// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The slices between two that stay as they are.
 *
 * @param limit how many devices a slice takes
 * @param indexes the indexes that devices may have
 * @param low the index of the slice before
 * @param high the index of the slice after
 * @param slices the indexes of the slices that are there, in order
 */
record Gap(int limit, SliceIndexes indexes, int low, int high, List<Integer> slices) {

    /** Returns how many slices so many devices need. */
    static int slices(int devices, int limit) {
        return (devices + limit - 1) / limit;
    }

    /**
     * Spreads devices over the slices that are there, and over new ones if these are too few.
     *
     * <p>Most devices keep their slices: as many as can without breaking the order or the limit.
     *
     * @param devices what to place, in order
     * @param homes the slices that devices were in
     */
    TreeMap<Integer, List<Device>> fill(List<Device> devices, Map<DeviceName, Integer> homes) {
        int[] ends = ends(devices, homes);
        int[] places = places(devices.size(), ends);
        TreeMap<Integer, List<Device>> filled = new TreeMap<>();
        int from = 0;
        int last = places.length - 1;
        int slice = 0;
        for (int i = 0; i <= last; i++) {
            int wanted = devices.size();
            if (slice < slices.size() && slices.get(slice) == places[i]) {
                wanted = ends[slice++];
            } else if (slice > 0) {
                wanted = ends[slice - 1];
            }
            long left = (long) (last - i) * limit;
            int to = Math.max(Math.max(from, wanted), (int) (devices.size() - left));
            to = Math.min(to, Math.min(from + limit, devices.size()));
            filled.put(places[i], devices.subList(from, to));
            from = to;
        }
        return filled;
    }

    /** Returns for each slice the place before which the devices end that belong in it. */
    private int[] ends(List<Device> devices, Map<DeviceName, Integer> homes) {
        int[] ends = new int[slices.size()];
        Arrays.fill(ends, devices.size());
        int slice = 0;
        for (int place : keeping(devices, homes)) {
            int home = homes.get(devices.get(place).name());
            while (slices.get(slice) < home) {
                ends[slice++] = place;
            }
        }
        return ends;
    }

    /** Returns the places of devices that can keep their slices: a longest row that ascends. */
    private Iterable<Integer> keeping(List<Device> devices, Map<DeviceName, Integer> homes) {
        Set<Integer> here = new HashSet<>(slices);
        int[] previous = new int[devices.size()];
        List<Integer> lastOf = new ArrayList<>(); // by length, the place with the lowest home
        for (int place = 0; place < devices.size(); place++) {
            Integer home = homes.get(devices.get(place).name());
            if (home == null || !here.contains(home)) {
                continue;
            }
            int from = 0;
            int to = lastOf.size();
            while (from < to) {
                int middle = (from + to) >>> 1;
                if (homes.get(devices.get(lastOf.get(middle)).name()) <= home) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            previous[place] = from == 0 ? -1 : lastOf.get(from - 1);
            if (from == lastOf.size()) {
                lastOf.add(place);
            } else {
                lastOf.set(from, place);
            }
        }
        Deque<Integer> keeping = new ArrayDeque<>();
        int place = lastOf.isEmpty() ? -1 : lastOf.get(lastOf.size() - 1);
        for (; place >= 0; place = previous[place]) {
            keeping.addFirst(place);
        }
        return keeping;
    }

    /** Returns the indexes of the slices that are there and of new ones, where devices overflow. */
    private int[] places(int devices, int[] ends) {
        int fresh = Math.max(0, slices(devices, limit) - slices.size());
        int[] after = new int[slices.size() + 1]; // how many new ones after each, at 0 before all
        int begin = 0;
        for (int i = 0; i < ends.length; i++) {
            int wanted = Math.max(0, slices(ends[i] - begin, limit) - 1);
            after[i + 1] = Math.min(fresh, Math.min(wanted, room(i + 1)));
            fresh -= after[i + 1];
            begin = ends[i];
        }
        for (int i = after.length - 1; i >= 0; i--) {
            int more = Math.min(fresh, room(i) - after[i]);
            after[i] += more;
            fresh -= more;
        }
        Set<Integer> all = new HashSet<>(slices);
        for (int i = 0; i < after.length; i++) {
            all.addAll(indexes.between(bound(i), bound(i + 1), after[i]));
        }
        return all.stream().mapToInt(Integer::intValue).sorted().toArray();
    }

    private int room(int gap) {
        return indexes.freeBetween(bound(gap), bound(gap + 1));
    }

    private int bound(int gap) {
        if (gap == 0) {
            return low;
        }
        return gap > slices.size() ? high : slices.get(gap - 1);
    }
}
