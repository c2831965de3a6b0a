// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A pool as it was and as it is, and what must hold between the two. */
record SettledPool(Pool pool, boolean mayTaint, List<Stored> before, List<Stored> after) {

    /** Order is preference: over all slices, by their names, devices have the inventory's. */
    void checkOrder() {
        assertThat(devices(after))
                .isEqualTo(pool.devices().stream().map(Device::name).toList());
    }

    private static List<DeviceName> devices(List<Stored> slices) {
        return slices.stream()
                .sorted(Comparator.comparing(Stored::name))
                .flatMap(slice -> names(slice).stream())
                .toList();
    }

    /** One if one slice changed, else at most one for each slice, plus deletes. */
    void checkWrites(List<SliceWrite> writes) {
        Map<String, Stored> old = byName(before);
        Map<String, Stored> now = byName(after);
        long deleted =
                old.keySet().stream().filter(name -> !now.containsKey(name)).count();
        long created =
                now.keySet().stream().filter(name -> !old.containsKey(name)).count();
        long changed = now.keySet().stream()
                .filter(old::containsKey)
                .filter(name -> !same(old.get(name), now.get(name)))
                .count();
        long puts =
                writes.stream().filter(w -> !(w instanceof SliceWrite.Delete)).count();
        assertThat(writes.size() - puts).as("deletes").isEqualTo(deleted);
        if (deleted == 0 && created == 0 && changed <= 1) {
            assertThat(puts).as("writes for %s slices changed", changed).isEqualTo(changed);
        } else {
            assertThat(puts).as("writes").isLessThanOrEqualTo(after.size());
        }
    }

    private static boolean same(Stored one, Stored other) {
        Content content = other.content();
        return one.isOurs()
                && one.content().at(content.generation(), content.sliceCount()).equals(content);
    }

    /** A device that goes changes one slice at most, and one that comes two; a move is both. */
    void checkChanges() {
        if (before.isEmpty()
                || isNodeLocal(before.get(0)) != isNodeLocal(after.get(0))
                || before.stream().anyMatch(slice -> names(slice).size() > limit())) {
            return;
        }
        List<DeviceName> now = devices(after);
        List<DeviceName> old = devices(before);
        int kept = inBoth(old, now);
        Map<String, Stored> there = byName(before);
        Map<String, Stored> here = byName(after);
        Set<String> slices = new HashSet<>(there.keySet());
        slices.addAll(here.keySet());
        slices.removeIf(name -> names(there.get(name)).equals(names(here.get(name))));
        assertThat(slices)
                .as("slices changed for %s devices of %s and %s", kept, old.size(), now.size())
                .hasSizeLessThanOrEqualTo(old.size() - kept + 2 * (now.size() - kept));
    }

    /** Returns how many devices are in both lists in the same order, at most. */
    private static int inBoth(List<DeviceName> old, List<DeviceName> now) {
        Map<DeviceName, Integer> places = new HashMap<>();
        now.forEach(name -> places.put(name, places.size()));
        TreeSet<Integer> lasts = new TreeSet<>(); // by length, the lowest place that one ends at
        for (DeviceName name : old) {
            Integer place = places.get(name);
            if (place != null && lasts.add(place) && lasts.higher(place) != null) {
                lasts.remove(lasts.higher(place));
            }
        }
        return lasts.size();
    }

    private int limit() {
        return mayTaint ? 64 : SimulatedCluster.limit(pool.devices());
    }

    /** A taint that stays began when it began. */
    void checkTaintTimes() {
        Map<List<?>, Instant> old = times(before);
        times(after).forEach((taint, time) -> {
            assertThat(time).isNotNull();
            if (old.containsKey(taint) && isDatedByTheServer(taint)) {
                assertThat(time).as("%s", taint).isEqualTo(old.get(taint));
            }
        });
    }

    private boolean isDatedByTheServer(List<?> taint) {
        return pool.devices().stream()
                .filter(device -> device.name().equals(taint.get(0)))
                .flatMap(device -> device.taints().stream())
                .anyMatch(t -> t.key().equals(taint.get(1)) && t.timeAdded() == null);
    }

    private static Map<List<?>, Instant> times(List<Stored> slices) {
        Map<List<?>, Instant> times = new HashMap<>();
        for (Stored slice : slices) {
            for (Device device : slice.content().devices()) {
                for (Taint it : device.taints()) {
                    String value = String.valueOf(it.value());
                    times.put(List.of(device.name(), it.key(), value, it.effect()), it.timeAdded());
                }
            }
        }
        return times;
    }

    private static boolean isNodeLocal(Stored slice) {
        return slice.content().placement() instanceof Placement.ThisNode;
    }

    private static Map<String, Stored> byName(List<Stored> slices) {
        return slices.stream().collect(Collectors.toMap(Stored::name, Function.identity()));
    }

    /** Returns the slice of each device. */
    static Map<DeviceName, String> homes(List<Stored> slices) {
        Map<DeviceName, String> homes = new HashMap<>();
        slices.forEach(slice -> names(slice).forEach(name -> homes.put(name, slice.name())));
        return homes;
    }

    private static List<DeviceName> names(@Nullable Stored slice) {
        return slice == null
                ? List.of()
                : slice.content().devices().stream().map(Device::name).toList();
    }
}
