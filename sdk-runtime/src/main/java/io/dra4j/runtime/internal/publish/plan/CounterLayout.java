// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The place of counter sets in the slices of a pool: the releases of Kubernetes differ, and each
 * refuses the other's way.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815, DRA: Add support for partitionable devices</a>
 */
public enum CounterLayout {
    /** From 1.35 on: in slices of their own; the scheduler looks for them in the whole pool. */
    APART {
        @Override
        public List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint) {
            return SlicePlanner.plan(pool, before, mayTaint);
        }

        @Override
        public List<Problem> problems(Pool pool) {
            return List.of();
        }

        @Override
        public List<CounterSet> besides(Device device) {
            return List.of();
        }
    },
    /** In 1.34: with the devices that consume them, which are looked up in their slice alone. */
    TOGETHER {
        @Override
        public List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint) {
            return JointSlicePlanner.plan(pool, before, mayTaint);
        }

        @Override
        public List<Problem> problems(Pool pool) {
            return CounterGroup.of(pool).stream()
                    .flatMap(group -> group.problems(pool.name()).stream())
                    .toList();
        }

        @Override
        public List<CounterSet> besides(Device device) {
            return device.consumesCounters().stream().map(CounterLayout::whole).toList();
        }
    };

    private static CounterSet whole(CounterConsumption consumed) {
        CounterSet.Builder set = CounterSet.builder(consumed.counterSet());
        consumed.rawFields().keySet().forEach(counter -> set.counter(counter, 1));
        consumed.counters().forEach(set::counter);
        return set.build();
    }

    /** Returns the layout that a server of a release takes. */
    public static CounterLayout of(KubernetesVersion release) {
        return release.atLeast(KubernetesVersion.V1_35) ? APART : TOGETHER;
    }

    /**
     * Plans a pool whose rules hold.
     *
     * @param before the last plan, or what the cluster has after a restart, in any layout
     * @param mayTaint whether a device of this provider may ever have taints, counters or lists
     * @throws IllegalArgumentException if the pool can't be written as slices; the message names pool, device and field
     */
    public abstract List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint);

    /** Returns the parts of a pool, whose rules hold, that this layout has no room for. */
    public abstract List<Problem> problems(Pool pool);

    /** Returns the counter sets that a slice must have besides a device, which takes them whole. */
    public abstract List<CounterSet> besides(Device device);

    /**
     * Decides which slices a pool consists of on a server that wants counter sets in the slices of
     * their devices: {@link SlicePlanner} for Kubernetes 1.34.
     *
     * <p>Each {@link CounterGroup} has a slice of its own, which it keeps, in the order in which they
     * came: the scheduler of that release knows no order of slices. The devices that consume nothing
     * are planned as ever, 64 to a slice, so that they stay when the server is upgraded.
     */
    private static final class JointSlicePlanner {

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
}
