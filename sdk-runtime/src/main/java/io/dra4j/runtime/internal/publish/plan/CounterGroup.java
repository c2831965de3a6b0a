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
import io.dra4j.runtime.internal.validate.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The content that Kubernetes 1.34 wants in one slice: counter sets, and all devices that consume of them.
 *
 * <p>Sets are in one group if a device consumes of both, or if other sets link them so.
 *
 * @param sets at least one, in the pool's order
 * @param devices none that a set of another group is for, in the pool's order
 */
record CounterGroup(List<CounterSet> sets, List<Device> devices) {

    private static final SliceLimits LIMITS = SliceLimits.of(KubernetesVersion.V1_34);

    /** Copies the lists. */
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
     * @throws IllegalArgumentException if two sets bear one name, or a device consumes of a set
     *     that the pool does not have
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
                throw new IllegalArgumentException("the name " + set.name() + " is there twice");
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

    private static Set<String> names(Device device, CounterConsumption consumption, Map<String, Set<String>> linked) {
        Set<String> names = linked.get(consumption.counterSet());
        if (names == null) {
            throw new IllegalArgumentException(
                    ("Device %s: consumesCounters names the counter set %s, which the pool does " + "not have")
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
     * <p>What one device consumes, 32 counters at most, needs no look: the sets have no more.
     */
    List<Problem> problems(PoolName pool) {
        long counters = sets.stream().mapToLong(set -> set.counters().size()).sum();
        long consumed = devices.stream()
                .flatMap(device -> device.consumesCounters().stream())
                .mapToLong(one -> one.counters().size())
                .sum();
        List<Problem> problems = new ArrayList<>();
        check(problems, pool, LIMITS.sharedCounters(), counters, "counters");
        check(problems, pool, LIMITS.complexDevices(), devices.size(), "devices that consume of it");
        check(problems, pool, LIMITS.sliceCounters(), consumed, "counters that its devices consume, summed");
        return problems;
    }

    private void check(List<Problem> problems, PoolName pool, int most, long count, String what) {
        if (count > most) {
            String names = sets.stream().map(CounterSet::name).collect(Collectors.joining(", "));
            String rule = ("must have at most %s %s: Kubernetes 1.34 wants %s and its devices in one "
                            + "slice; offer fewer, or use Kubernetes 1.35")
                    .formatted(most, what, (sets.size() > 1 ? "these sets, which devices share," : "the set"));
            problems.add(new Problem(pool, null, "sharedCounters[" + names + "]", rule, Long.toString(count)));
        }
    }
}
