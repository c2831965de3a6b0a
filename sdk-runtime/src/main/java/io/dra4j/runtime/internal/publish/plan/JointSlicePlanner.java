// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Decides which slices a pool consists of on a server that wants counter sets in the slices of
 * their devices: {@link SlicePlanner} for Kubernetes 1.34.
 *
 * <p>Each {@link CounterGroup} has a slice of its own, which it keeps, in the order in which they
 * came: the scheduler of that release knows no order of slices. The devices that consume nothing
 * are planned as ever, 64 to a slice, so that they stay when the server is upgraded.
 */
final class JointSlicePlanner {

    private JointSlicePlanner() {}

    static List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint) {
        try {
            TreeMap<Integer, List<CounterGroup>> groups = new Arrangement<CounterGroup>(
                            CounterGroup::name, 1, SliceIndexes.FIRST, SliceIndexes.STEP)
                    .place(
                            CounterGroup.of(pool),
                            SlicePlanner.held(before, JointSlicePlanner::groups),
                            SlicePlanner.withDevices(before));
            TreeMap<Integer, List<Device>> devices = SlicePlanner.inOrder(
                    withoutCounters(pool), before, groups.keySet(), SlicePlanner.deviceLimit(pool, mayTaint));
            return slices(pool, groups, devices);
        } catch (IllegalArgumentException e) {
            throw SlicePlanner.of(pool, e);
        }
    }

    /** Each set on its own: a group that was divided leaves its slice to the first part. */
    private static List<CounterGroup> groups(Content content) {
        return content.counterSets().stream().map(CounterGroup::of).toList();
    }

    private static List<Device> withoutCounters(Pool pool) {
        return pool.devices().stream()
                .filter(it -> !Feature.COUNTERS.usedBy(it))
                .toList();
    }

    private static List<PlannedSlice> slices(
            Pool pool, TreeMap<Integer, List<CounterGroup>> groups, TreeMap<Integer, List<Device>> devices) {
        long count = groups.size() + devices.size();
        List<PlannedSlice> plan = new ArrayList<>();
        groups.forEach((index, one) -> {
            CounterGroup it = one.get(0);
            plan.add(SlicePlanner.slice(pool, index, count, it.devices(), it.sets()));
        });
        devices.forEach((index, some) -> plan.add(SlicePlanner.slice(pool, index, count, some, List.of())));
        return plan;
    }
}
