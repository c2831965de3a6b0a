// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceLimits;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Decides which slices a pool consists of: from the pool and the previous plan, for servers from Kubernetes 1.35 on.
 *
 * <p>A slice takes 64 devices, or 128 if none of the provider's may ever have taints, counters or
 * lists; so the first taint moves nothing. Counter sets have separate slices. Placement is
 * stable: a device keeps its slice when others are added and removed, as far as the inventory's order over all slices
 * allows. A pool has at least one slice: empty is not absent.
 */
final class SlicePlanner {

    private static final SliceLimits LIMITS = SliceLimits.of(KubernetesVersion.newest());

    private SlicePlanner() {}

    /**
     * Plans a pool.
     *
     * @param before the last plan, or what the cluster has after a restart
     * @param mayTaint whether a device of this provider may ever have taints, counters or lists
     * @throws IllegalArgumentException if the pool can't be written as slices; the message names pool, device and field
     */
    static List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint) {
        try {
            Set<Integer> notForCounters = withDevices(before);
            TreeMap<Integer, List<CounterSet>> counters = new Arrangement<CounterSet>(
                            CounterSet::name, LIMITS.counterSets(), 0, 1)
                    .place(pool.counterSets(), held(before, SlicePlanner::setsApart), notForCounters);
            TreeMap<Integer, List<Device>> devices =
                    inOrder(pool.devices(), before, counters.keySet(), deviceLimit(pool, mayTaint));
            return slices(pool, counters, devices);
        } catch (IllegalArgumentException e) {
            throw of(pool, e);
        }
    }

    /**
     * Places devices in order; without devices, in one empty slice if the pool has no other.
     *
     * @param taken the indexes of the slices that are not for them
     */
    static TreeMap<Integer, List<Device>> inOrder(
            List<Device> devices, List<PlannedSlice> before, Set<Integer> taken, int limit) {
        NavigableMap<Integer, List<Device>> homes = held(before, Content::devices);
        homes.keySet().removeAll(taken);
        TreeMap<Integer, List<Device>> placed =
                new OrderedArrangement(limit, SliceIndexes.without(taken)).place(devices, homes);
        if (taken.isEmpty() && placed.isEmpty()) {
            placed.put(homes.isEmpty() ? SliceIndexes.FIRST : homes.firstKey(), List.of());
        }
        return placed;
    }

    /** Returns a failure that also names the pool. */
    static IllegalArgumentException of(Pool pool, IllegalArgumentException failure) {
        return new IllegalArgumentException("Pool " + pool.name() + ": " + failure.getMessage(), failure);
    }

    /** Sets that were with devices leave them the slice: there are fewer sets than devices. */
    private static List<CounterSet> setsApart(Content content) {
        return content.devices().isEmpty() ? content.counterSets() : List.of();
    }

    /** New counter sets must not push devices out of their slices. */
    static Set<Integer> withDevices(List<PlannedSlice> before) {
        Set<Integer> indexes = new HashSet<>();
        for (PlannedSlice slice : before) {
            if (!slice.content().devices().isEmpty()) {
                indexes.add(slice.index());
            }
        }
        return indexes;
    }

    static <T> NavigableMap<Integer, List<T>> held(List<PlannedSlice> before, Function<Content, List<T>> part) {
        NavigableMap<Integer, List<T>> held = new TreeMap<>();
        before.forEach(slice -> held.put(slice.index(), part.apply(slice.content())));
        return held;
    }

    private static List<PlannedSlice> slices(
            Pool pool, TreeMap<Integer, List<CounterSet>> counters, TreeMap<Integer, List<Device>> devices) {
        long count = counters.size() + devices.size();
        List<PlannedSlice> plan = new ArrayList<>();
        counters.forEach((index, sets) -> plan.add(slice(pool, index, count, List.of(), sets)));
        devices.forEach((index, some) -> plan.add(slice(pool, index, count, some, List.of())));
        return plan;
    }

    static PlannedSlice slice(Pool pool, int index, long count, List<Device> devices, List<CounterSet> sets) {
        boolean hasPartitions = devices.stream().anyMatch(Feature.COUNTERS::usedBy);
        Content content = new Content(pool.name(), 0, count, pool.placement(), devices, sets)
                .with(
                        hasPartitions ? pool.partitionTypeAttribute() : null,
                        pool.skipNodeOperations().stream()
                                .map(NodeOperation::apiName)
                                .toList());
        return new PlannedSlice(index, SliceCodec.canonical(content));
    }

    /** The API allows 64 devices in a slice if one of them has a taint, a counter or a list. */
    static int deviceLimit(Pool pool, boolean mayTaint) {
        return mayTaint || pool.devices().stream().anyMatch(SlicePlanner::isSpecial)
                ? LIMITS.complexDevices()
                : SliceLimits.DEVICES;
    }

    private static boolean isSpecial(Device device) {
        return Feature.TAINTS.usedBy(device)
                || Feature.COUNTERS.usedBy(device)
                || Feature.LIST_ATTRIBUTES.usedBy(device);
    }
}
