// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.NodeChoice;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.kubectl.tree.Branch.PoolBranch;
import io.dra4j.kubectl.tree.Branch.UsedCounter;
import io.dra4j.kubectl.tree.Branch.UsedDevice;
import io.dra4j.kubectl.tree.Branch.User;
import io.dra4j.rules.OwnNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Sorts the devices of a cluster by place, and finds who has them. */
record Branches(Snapshot snapshot) {
    private static final String ALL_NODES = "all nodes";
    private static final String SOME_NODES = "nodes by label";
    private static final String PER_DEVICE = "nodes by device";

    /** Returns the branches of the pools that are wanted, those of nodes first, by name. */
    List<Branch> of(Predicate<PoolId> wanted) {
        Map<PoolId, List<Slice>> pools = new TreeMap<>();
        for (Slice slice : snapshot.cluster().slices()) {
            if (wanted.test(slice.pool())) {
                pools.computeIfAbsent(slice.pool(), id -> new ArrayList<>(1)).add(slice);
            }
        }
        Map<String, List<PoolBranch>> nodes = new TreeMap<>();
        Map<String, List<PoolBranch>> others = new TreeMap<>();
        pools.forEach((id, slices) -> {
            NodeChoice choice = slices.get(0).nodes();
            String node = choice.nodeName();
            (node == null ? others : nodes)
                    .computeIfAbsent(node == null ? place(slices.get(0)) : node, key -> new ArrayList<>(1))
                    .add(pool(id, slices));
        });
        List<Branch> branches = new ArrayList<>();
        nodes.forEach((node, all) -> branches.add(new Branch(node, true, all)));
        others.forEach((place, all) -> branches.add(new Branch(place, false, all)));
        return branches;
    }

    private static String place(Slice slice) {
        return slice.perDevice() ? PER_DEVICE : slice.nodes().allNodes() ? ALL_NODES : SOME_NODES;
    }

    private PoolBranch pool(PoolId id, List<Slice> slices) {
        long generation = slices.stream().mapToLong(Slice::generation).max().orElseThrow();
        List<Slice> newest =
                slices.stream().filter(one -> one.generation() == generation).toList();
        List<UsedDevice> used = new ArrayList<>();
        List<String> free = new ArrayList<>();
        Map<CounterKey, Quantity> taken = new LinkedHashMap<>();
        for (Slice slice : newest) {
            for (Device device : slice.devices()) {
                UsedDevice one = device(slice.id(device), device);
                if (one.users().isEmpty() && one.taints().isEmpty()) {
                    free.add(one.name());
                } else {
                    used.add(one);
                }
                if (one.isInUse()) {
                    take(device, taken);
                }
            }
        }
        return new PoolBranch(id.driver(), id.pool(), generation, problem(newest), used, free, counters(newest, taken));
    }

    private static String problem(List<Slice> newest) {
        long wanted = newest.get(0).sliceCount();
        return newest.size() == wanted ? "" : "incomplete: %d of %d slices".formatted(newest.size(), wanted);
    }

    private UsedDevice device(DeviceId id, Device device) {
        List<Holder> holders = snapshot.cluster().holders(id);
        List<String> left = new ArrayList<>();
        if (device.sharing() && !holders.isEmpty()) {
            OwnNames names = new OwnNames(id.driver());
            device.capacity().forEach((name, capacity) -> {
                Quantity rest = capacity.value();
                for (Holder holder : holders) {
                    Optional<Quantity> share = names.find(holder.device().consumedCapacity(), name);
                    rest = share.map(rest::minus).orElse(rest);
                }
                left.add("%s %s of %s".formatted(name, rest, capacity.value()));
            });
        }
        Stream<Taint> byRule = snapshot.cluster().taintRules().stream()
                .filter(rule -> rule.selects(id))
                .map(TaintRule::taint);
        return new UsedDevice(
                device.name(),
                Stream.concat(device.taints().stream(), byRule)
                        .map(Taint::toString)
                        .distinct()
                        .toList(),
                holders.stream()
                        .map(this::user)
                        .sorted(Comparator.comparing(User::adminAccess).thenComparing(User::claim))
                        .toList(),
                left);
    }

    private User user(Holder holder) {
        ClaimInfo claim = snapshot.claims().get(holder.claim());
        List<String> share = new ArrayList<>();
        holder.device().consumedCapacity().forEach((name, amount) -> share.add(name + " " + amount));
        return new User(
                holder.claim(),
                claim == null ? List.of() : claim.pods(),
                claim != null && claim.grouped(),
                share,
                holder.device().adminAccess());
    }

    private record CounterKey(String set, String counter) {}

    private static void take(Device device, Map<CounterKey, Quantity> taken) {
        for (CounterSet set : device.consumes()) {
            set.counters()
                    .forEach((name, amount) -> taken.merge(new CounterKey(set.name(), name), amount, Quantity::plus));
        }
    }

    private static List<UsedCounter> counters(List<Slice> slices, Map<CounterKey, Quantity> taken) {
        List<UsedCounter> counters = new ArrayList<>();
        for (Slice slice : slices) {
            for (CounterSet set : slice.sharedCounters()) {
                set.counters().forEach((name, all) -> {
                    Quantity used = taken.get(new CounterKey(set.name(), name));
                    if (used != null && used.compareTo(Quantity.ZERO) != 0) {
                        counters.add(new UsedCounter(
                                set.name(), name, all.minus(used).toString(), all.toString()));
                    }
                });
            }
        }
        return counters;
    }
}
