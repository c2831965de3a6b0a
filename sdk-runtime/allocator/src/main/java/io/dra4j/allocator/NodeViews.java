// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.HeldDevice;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Views of a cluster with only what matters to one node, so that thousands of nodes can be tried.
 *
 * <p>A view leaves out the pools of other nodes and everything that belongs to them. Claims fit in the view if they fit
 * in the cluster, and get the same devices; an outcome names only the pools of the view.
 */
public final class NodeViews {
    private final ClusterState cluster;
    private final Map<String, List<Slice>> ofNodes = new HashMap<>();
    private final List<Slice> ofMany = new ArrayList<>();
    private final Map<PoolId, Set<Claim>> claims = new HashMap<>();

    public NodeViews(ClusterState cluster) {
        this.cluster = cluster;
        cluster.slices().stream().map(Slice::pool).distinct().forEach(this::add);
        for (Claim claim : cluster.claims()) {
            for (HeldDevice device : claim.devices()) {
                PoolId pool = new PoolId(device.id().driver(), device.id().pool());
                claims.computeIfAbsent(pool, id -> new LinkedHashSet<>(2)).add(claim);
            }
        }
    }

    private void add(PoolId pool) {
        List<Slice> slices = cluster.slices(pool);
        String node = slices.get(0).nodes().nodeName();
        if (node != null && isOf(node, slices)) {
            ofNodes.computeIfAbsent(node, name -> new ArrayList<>()).addAll(slices);
        } else {
            ofMany.addAll(slices);
        }
    }

    /** A slice with counters also counts for other nodes if its pool has a problem. */
    private static boolean isOf(String node, List<Slice> slices) {
        boolean local =
                slices.stream().allMatch(one -> Objects.equals(one.nodes().nodeName(), node));
        return local && (slices.stream().allMatch(one -> one.sharedCounters().isEmpty()) || isSound(slices));
    }

    private static boolean isSound(List<Slice> slices) {
        Slice first = slices.get(0);
        return slices.size() == first.sliceCount()
                && slices.stream().allMatch(one -> one.generation() == first.generation())
                && slices.stream()
                        .allMatch(one ->
                                one.sharedCounters().isEmpty() || one.devices().isEmpty())
                && Pools.problemOfNames(slices).isEmpty()
                && Pools.problemOfCounters(slices).isEmpty();
    }

    public ClusterState of(Node node) {
        List<Slice> slices = Stream.concat(ofMany.stream(), ofNodes.getOrDefault(node.name(), List.of()).stream())
                .toList();
        Set<Claim> holders = new LinkedHashSet<>();
        slices.stream()
                .map(Slice::pool)
                .distinct()
                .forEach(pool -> holders.addAll(claims.getOrDefault(pool, Set.of())));
        return new ClusterState(cluster.classes(), slices, holders, cluster.taintRules());
    }
}
