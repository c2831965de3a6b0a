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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A pool as it was and as it is, and what must hold between the two. */
public record SettledPool(Pool pool, boolean mayTaint, List<Stored> before, List<Stored> after) {

    /** Order is preference: within a slice devices have the inventory's. */
    public void checkOrder() {
        List<DeviceName> wanted = pool.devices().stream().map(Device::name).toList();
        for (Stored slice : after) {
            List<DeviceName> names = names(slice);
            assertThat(wanted.stream().filter(Set.copyOf(names)::contains).toList())
                    .isEqualTo(names);
        }
    }

    /** One if one slice changed, else at most one for each slice, plus deletes. */
    public void checkWrites(List<SliceWrite> writes) {
        Map<String, Stored> old = byName(before);
        Map<String, Stored> now = byName(after);
        long deleted = old.keySet().stream().filter(name -> !now.containsKey(name)).count();
        long created = now.keySet().stream().filter(name -> !old.containsKey(name)).count();
        long changed =
                now.keySet().stream()
                        .filter(old::containsKey)
                        .filter(name -> !same(old.get(name), now.get(name)))
                        .count();
        long puts = writes.stream().filter(w -> !(w instanceof SliceWrite.Delete)).count();
        assertThat(writes.size() - puts).as("deletes").isEqualTo(deleted);
        if (deleted == 0 && created == 0 && changed <= 1) {
            assertThat(puts).as("writes for %s slices changed", changed).isEqualTo(changed);
        } else {
            assertThat(puts).as("writes").isLessThanOrEqualTo(after.size());
        }
    }

    private static boolean same(Stored one, Stored other) {
        Content content = other.content();
        return one.ownedByNode()
                && one.content().at(content.generation(), content.sliceCount()).equals(content);
    }

    /** Devices stay where they are, and new ones go where there is room. */
    public void checkHomes() {
        if (before.isEmpty() || isNodeLocal(before.get(0)) != isNodeLocal(after.get(0))) {
            return;
        }
        Map<DeviceName, String> old = homes(before);
        Map<DeviceName, String> now = homes(after);
        long moved =
                old.entrySet().stream()
                        .filter(home -> now.containsKey(home.getKey()))
                        .filter(home -> !now.get(home.getKey()).equals(home.getValue()))
                        .count();
        assertThat(moved)
                .as("devices that moved")
                .isLessThanOrEqualTo(
                        before.stream()
                                .mapToInt(slice -> Math.max(0, names(slice).size() - limit()))
                                .sum());
        Set<String> there = byName(before).keySet();
        boolean grew =
                after.stream().anyMatch(s -> !there.contains(s.name()) && !names(s).isEmpty());
        if (grew) {
            assertThat(after)
                    .filteredOn(slice -> there.contains(slice.name()) && !names(slice).isEmpty())
                    .allSatisfy(slice -> assertThat(names(slice)).hasSize(limit()));
        }
    }

    private int limit() {
        return mayTaint ? 64 : SimulatedCluster.limit(pool.devices());
    }

    /** A taint that stays began when it began. */
    public void checkTaintTimes() {
        Map<List<?>, Instant> old = times(before);
        times(after)
                .forEach(
                        (taint, time) -> {
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

    private static List<DeviceName> names(Stored slice) {
        return slice.content().devices().stream().map(Device::name).toList();
    }
}
