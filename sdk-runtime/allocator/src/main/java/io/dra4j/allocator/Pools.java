// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeChoice;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Finds the pools that a node sees, in the order in which they are tried. */
record Pools(Behaviour behaviour, ClusterState cluster, Node node) {
    /** Returns the pools by driver and name; those with binding conditions come last. */
    List<Pool> find() {
        Map<PoolId, List<Slice>> kept = new TreeMap<>();
        cluster.slices().stream().filter(this::counts).forEach(slice -> keep(kept, slice));
        List<Pool> pools = new ArrayList<>();
        kept.values().forEach(slices -> pool(slices).ifPresent(pools::add));
        pools.sort(Comparator.comparing(Pool::hasBindingConditions));
        return pools;
    }

    /** Keeps the slices of the newest generation of each pool. */
    private static void keep(Map<PoolId, List<Slice>> kept, Slice slice) {
        List<Slice> slices = kept.computeIfAbsent(slice.pool(), id -> new ArrayList<>());
        if (!slices.isEmpty() && slices.get(0).generation() < slice.generation()) {
            slices.clear();
        }
        if (slices.isEmpty() || slices.get(0).generation() == slice.generation()) {
            slices.add(slice);
        }
    }

    /** Returns whether a slice is for the node. */
    boolean counts(Slice slice) {
        if (missingGate(slice).isPresent()) {
            return false;
        }
        if (!slice.sharedCounters().isEmpty() && behaviour.has(Trait.COUNTERS_ON_ALL_NODES)) {
            return true;
        }
        if (slice.nodes().isMade()) {
            return includes(slice.nodes(), "slice " + slice.name());
        }
        return slice.perDevice()
                && slice.devices().stream()
                        .anyMatch(one -> includes(one.nodes(), "device " + one.name() + " in slice " + slice.name()));
    }

    private boolean includes(NodeChoice nodes, String of) {
        String problem = nodes.selector() == null ? "" : nodes.selector().problem();
        if (!problem.isEmpty()) {
            throw new AttemptException(
                    "gather pool information: failed to perform node selection for %s: failed to parse node selector: %s"
                            .formatted(of, problem));
        }
        return nodes.includes(node);
    }

    /** Returns the disabled gate because of which a slice is ignored. */
    Optional<FeatureGate> missingGate(Slice slice) {
        if (behaviour.atLeast(KubernetesVersion.V1_37)
                && slice.devices().stream().anyMatch(Device::grouped)) {
            return Optional.of(FeatureGate.DRA_DEVICE_COMPATIBILITY_GROUPS);
        }
        boolean partitioned = slice.perDevice()
                || (behaviour.atLeast(KubernetesVersion.V1_35)
                        && !slice.sharedCounters().isEmpty());
        return partitioned && !behaviour.partitionable()
                ? Optional.of(FeatureGate.DRA_PARTITIONABLE_DEVICES)
                : Optional.empty();
    }

    /** Returns a pool, unless its driver is replacing this generation. */
    private Optional<Pool> pool(List<Slice> slices) {
        Slice first = slices.get(0);
        PoolId id = first.pool();
        boolean isHere = slices.size() == first.sliceCount();
        if (isHere || behaviour.has(Trait.INCOMPLETE_POOLS_ARE_USED)) {
            return Optional.of(new Pool(id, slices, List.of(), !isHere, problem(slices, List.of())));
        }
        List<Slice> all = cluster.slices(id);
        if (all.stream().anyMatch(one -> one.generation() > first.generation())) {
            return Optional.empty();
        }
        Set<Slice> here = Collections.newSetFromMap(new IdentityHashMap<>());
        here.addAll(slices);
        List<Slice> elsewhere = all.stream()
                .filter(one -> one.generation() == first.generation())
                .filter(one -> !here.contains(one))
                .toList();
        boolean complete = slices.size() + elsewhere.size() == first.sliceCount();
        String problem = complete ? problem(slices, elsewhere) : "";
        return Optional.of(new Pool(id, slices, elsewhere, !complete, problem));
    }

    private String problem(List<Slice> slices, List<Slice> elsewhere) {
        String problem = problemOfNames(slices);
        if (!problem.isEmpty() || !behaviour.partitionable()) {
            return problem;
        }
        return problemOfCounters(
                Stream.concat(slices.stream(), elsewhere.stream()).toList());
    }

    /** Returns a problem of duplicate device names, or an empty string. */
    static String problemOfNames(List<Slice> slices) {
        Set<String> names = new HashSet<>();
        return devices(slices)
                .filter(device -> !names.add(device.name()))
                .findFirst()
                .map(device -> "duplicate device name " + device.name())
                .orElse("");
    }

    /** Returns a problem of counters, or an empty string. */
    static String problemOfCounters(List<Slice> slices) {
        Map<String, CounterSet> sets = new HashMap<>();
        for (Slice slice : slices) {
            for (CounterSet set : slice.sharedCounters()) {
                if (sets.put(set.name(), set) != null) {
                    return "duplicate counter set name " + set.name();
                }
            }
        }
        return devices(slices)
                .flatMap(device -> unknownCounter(device, sets).stream())
                .findFirst()
                .orElse("");
    }

    private static Stream<Device> devices(List<Slice> slices) {
        return slices.stream().flatMap(slice -> slice.devices().stream());
    }

    private static Optional<String> unknownCounter(Device device, Map<String, CounterSet> sets) {
        for (CounterSet consumed : device.consumes()) {
            CounterSet set = sets.get(consumed.name());
            if (set == null) {
                return Optional.of("counter set %s not found".formatted(consumed.name()));
            }
            for (String counter : consumed.counters().keySet()) {
                if (!set.counters().containsKey(counter)) {
                    return Optional.of("counter %s not found in counter set %s".formatted(counter, set.name()));
                }
            }
        }
        return Optional.empty();
    }
}
