// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceLimits;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The place of counter sets in the slices of a pool: the releases of Kubernetes differ, and each refuses the other's
 * layout.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815, DRA: Add support for partitionable devices</a>
 */
public enum CounterLayout {
    /** From 1.35 on: in separate slices; the scheduler looks for them in the whole pool. */
    APART,

    /** In 1.34: with the devices that consume them, which are looked up only in their slice. */
    TOGETHER;

    private static CounterSet whole(CounterConsumption consumed) {
        CounterSet.Builder set = CounterSet.builder(consumed.counterSet());
        consumed.rawFields().keySet().forEach(counter -> set.counter(counter, 1));
        consumed.counters().forEach(set::counter);
        return set.build();
    }

    /** Returns the layout that a server of a release accepts. */
    public static CounterLayout of(KubernetesVersion release) {
        return release.atLeast(KubernetesVersion.V1_35) ? APART : TOGETHER;
    }

    /**
     * Plans a valid pool.
     *
     * @param before the last plan, or what the cluster has after a restart, in any layout
     * @param mayTaint whether a device of this provider may ever have taints, counters or lists
     * @throws IllegalArgumentException if the pool can't be written as slices; the message names pool, device and field
     */
    public List<PlannedSlice> plan(Pool pool, List<PlannedSlice> before, boolean mayTaint) {
        return this == APART
                ? SlicePlanner.plan(pool, before, mayTaint)
                : JointSlicePlanner.plan(pool, before, mayTaint);
    }

    /** Returns the parts of a valid pool that do not fit this layout. */
    public List<Problem> problems(Pool pool) {
        return this == APART
                ? List.of()
                : CounterGroup.of(pool).stream()
                        .flatMap(group -> group.problems(pool.name()).stream())
                        .toList();
    }

    /** Returns the counter sets that a slice must have besides a device, which takes them whole. */
    public List<CounterSet> besides(Device device) {
        return this == APART
                ? List.of()
                : device.consumesCounters().stream().map(CounterLayout::whole).toList();
    }

    /**
     * Decides which slices a pool consists of on a server that requires counter sets in the slices of their devices:
     * {@link SlicePlanner} for Kubernetes 1.34.
     *
     * <p>Each {@link CounterGroup} has its own slice, which it keeps, in the order in which they were added: the
     * scheduler of that release ignores the order of slices. Devices that consume nothing are planned as usual, 64 to a
     * slice, so that they stay when the server is upgraded.
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

    /**
     * The content that Kubernetes 1.34 requires in one slice: counter sets, and all devices that consume from them.
     *
     * <p>Sets are in one group if a device consumes from both, or if other sets link them so.
     *
     * @param sets at least one, in the pool's order
     * @param devices the devices, none of which needs a set of another group, in the pool's order
     */
    record CounterGroup(List<CounterSet> sets, List<Device> devices) {

        private static final SliceLimits LIMITS = SliceLimits.of(KubernetesVersion.V1_34);

        CounterGroup {
            sets = List.copyOf(sets);
            devices = List.copyOf(devices);
        }

        /** Returns a group of one set that nothing consumes. */
        static CounterGroup of(CounterSet set) {
            return new CounterGroup(List.of(set), List.of());
        }

        /**
         * Finds the groups of a pool, in the order of their first sets.
         *
         * @throws IllegalArgumentException if two sets have one name, or a device consumes from a set that the pool
         *     does not have
         */
        static List<CounterGroup> of(Pool pool) {
            Map<String, Set<String>> linked = linked(pool);
            Map<Set<String>, List<CounterSet>> sets = new LinkedHashMap<>();
            for (CounterSet set : pool.counterSets()) {
                sets.computeIfAbsent(linked.get(set.name()), names -> new ArrayList<>())
                        .add(set);
            }
            Map<Set<String>, List<Device>> devices = pool.devices().stream()
                    .filter(Feature.COUNTERS::usedBy)
                    .collect(Collectors.groupingBy(device -> names(device, linked)));
            return sets.entrySet().stream()
                    .map(it -> new CounterGroup(it.getValue(), devices.getOrDefault(it.getKey(), List.of())))
                    .toList();
        }

        /** Returns for each counter set the names of all in its group. */
        private static Map<String, Set<String>> linked(Pool pool) {
            Map<String, Set<String>> linked = new LinkedHashMap<>();
            for (CounterSet set : pool.counterSets()) {
                if (linked.put(set.name(), Set.of(set.name())) != null) {
                    throw new IllegalArgumentException("the name " + set.name() + " is used twice");
                }
            }
            for (Device device : pool.devices()) {
                Set<String> names = names(device, linked);
                names.forEach(name -> linked.put(name, names));
            }
            return linked;
        }

        /** Returns the names of all sets that a device needs in its slice, as far as is known. */
        private static Set<String> names(Device device, Map<String, Set<String>> linked) {
            if (device.consumesCounters().size() == 1) {
                return names(device, device.consumesCounters().get(0), linked);
            }
            Set<String> names = new TreeSet<>();
            device.consumesCounters().forEach(one -> names.addAll(names(device, one, linked)));
            return names;
        }

        private static Set<String> names(
                Device device, CounterConsumption consumption, Map<String, Set<String>> linked) {
            Set<String> names = linked.get(consumption.counterSet());
            if (names == null) {
                throw new IllegalArgumentException(
                        ("Device %s: consumesCounters names the counter set %s, which the pool does not have")
                                .formatted(device.name(), consumption.counterSet()));
            }
            return names;
        }

        /** The name by which it is known again: that of its first set. */
        String name() {
            return sets.get(0).name();
        }

        /**
         * Returns the reasons why no slice can hold it.
         *
         * <p>A device's consumption, at most 32 counters, needs no check: the sets have no more.
         */
        List<Problem> problems(PoolName pool) {
            long counters =
                    sets.stream().mapToLong(set -> set.counters().size()).sum();
            long consumed = devices.stream()
                    .flatMap(device -> device.consumesCounters().stream())
                    .mapToLong(one -> one.counters().size())
                    .sum();
            List<Problem> problems = new ArrayList<>();
            check(problems, pool, LIMITS.sharedCounters(), counters, "counters");
            check(problems, pool, LIMITS.complexDevices(), devices.size(), "devices that consume from it");
            check(problems, pool, LIMITS.sliceCounters(), consumed, "counters in total that its devices consume");
            return problems;
        }

        private void check(List<Problem> problems, PoolName pool, int most, long count, String what) {
            if (count > most) {
                String names = sets.stream().map(CounterSet::name).collect(Collectors.joining(", "));
                String rule = ("must have at most %s %s: Kubernetes 1.34 requires %s and its devices in one "
                                + "slice; offer fewer, or use Kubernetes 1.35")
                        .formatted(most, what, (sets.size() > 1 ? "these sets, which devices share," : "the set"));
                problems.add(new Problem(pool, null, "sharedCounters[" + names + "]", rule, Long.toString(count)));
            }
        }
    }
}
