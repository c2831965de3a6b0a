// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Distributes devices over slices in the inventory's order, so that as few slices as possible change.
 *
 * <p>A slice may stay if its devices still follow one another. Of all such slices a longest run stays: one slice after
 * the other, in both orders, with the fewest changes in the gaps between them. A gap changes as many slices as it has,
 * or as its devices need, if that is more; new slices get indexes between those of their neighbours. Where there is no
 * index left for them, neighbours also have to move.
 *
 * <p>So a device that is removed changes at most one slice, and a device that is added two: the slice that it belongs
 * in and, if that is full, a neighbour.
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
     * @throws IllegalArgumentException if two devices have one name
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

    /** Returns the slices that may stay as they are, between an empty start and an empty end. */
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
                throw new IllegalArgumentException("the name " + device.name() + " is used twice");
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

    /** Finds the cheapest way from the start to the end: the runs on it stay. */
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

    /**
     * The slices between two that stay as they are.
     *
     * @param limit how many devices a slice takes
     * @param indexes the indexes that devices may have
     * @param low the index of the slice before
     * @param high the index of the slice after
     * @param slices the indexes of the slices that are there, in order
     */
    private record Gap(int limit, SliceIndexes indexes, int low, int high, List<Integer> slices) {

        /** Returns how many slices a number of devices needs. */
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

        /** Returns, for each slice, the place after the last device that belongs in it. */
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

        /** Returns the places of devices that can keep their slices: a longest ascending row. */
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

    /**
     * The indexes of slices: numbers of 28 bits far enough apart that others fit between them.
     *
     * <p>The first slice of a pool has room for more before it, and each has room for 65,535 between itself and the next.
     *
     * @param taken the indexes that are no longer free, sorted
     */
    record SliceIndexes(int[] taken) {

        static final int FIRST = 0x1000000;
        static final int STEP = 0x10000;
        static final int LAST = 0xfffffff;

        /** Before the lowest index, and after the highest. */
        static final int BEGIN = -1;

        static final int END = LAST + 1;

        static SliceIndexes without(Collection<Integer> taken) {
            return new SliceIndexes(
                    new TreeSet<>(taken).stream().mapToInt(Integer::intValue).toArray());
        }

        /** Returns how many indexes are free between two others. */
        int freeBetween(int low, int high) {
            return high - low - 1 - (rank(high) - rank(low + 1));
        }

        /** Returns how many taken indexes are lower. */
        private int rank(int index) {
            int from = 0;
            int to = taken.length;
            while (from < to) {
                int middle = (from + to) >>> 1;
                if (taken[middle] < index) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            return from;
        }

        /** Chooses free indexes between two others, which must have that many between them; ascending. */
        List<Integer> between(int low, int high, int count) {
            int[] wanted = wanted(low, high, count);
            if (IntStream.of(wanted).anyMatch(index -> rank(index) != rank(index + 1))) {
                int free = freeBetween(low, high);
                for (int i = 0; i < count; i++) {
                    wanted[i] = free(low, spread(free, i, count) - 1);
                }
            }
            return IntStream.of(wanted).boxed().toList();
        }

        /** At either end one step from the next; between two slices as far from each as can be. */
        private int[] wanted(int low, int high, int count) {
            int highest = taken.length == 0 ? BEGIN : taken[taken.length - 1];
            int last = Math.max(FIRST - STEP, Math.max(low, highest));
            if (high == END && last + (long) count * STEP < END) {
                return IntStream.rangeClosed(1, count).map(i -> last + i * STEP).toArray();
            }
            if (low == BEGIN && high - (long) count * STEP > BEGIN && high != END) {
                return IntStream.range(0, count)
                        .map(i -> high - (count - i) * STEP)
                        .toArray();
            }
            return IntStream.range(0, count)
                    .map(i -> low + spread(high - low - 1, i, count))
                    .toArray();
        }

        private static int spread(int room, int place, int count) {
            return (int) ((place + 1) * (room + 1L) / (count + 1));
        }

        /** Returns the free index above {@code low} with the given number of free ones between. */
        private int free(int low, int before) {
            int index = low + 1 + before;
            for (int i = rank(low + 1); i < taken.length && taken[i] <= index; i++) {
                index++;
            }
            return index;
        }
    }
}
