// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds the pools of which a node could use no device, and why. */
final class UnusedPools {
    private final Behaviour behaviour;
    private final Cluster cluster;
    private final Pools pools;
    private final Map<PoolId, Pool> seen;

    UnusedPools(Behaviour behaviour, Cluster cluster, Pools pools, List<Pool> seen) {
        this.behaviour = behaviour;
        this.cluster = cluster;
        this.pools = pools;
        this.seen = seen.stream().collect(Collectors.toMap(Pool::id, Function.identity()));
    }

    /** Returns them by name, but for those of other nodes. */
    List<PoolObstacle> obstacles() {
        List<PoolObstacle> obstacles = new ArrayList<>();
        for (PoolId id : cluster.pools()) {
            problem(id).ifPresent(problem -> obstacles.add(new PoolObstacle(id, problem)));
        }
        return List.copyOf(obstacles);
    }

    /** Returns the number of pools that are for other nodes alone. */
    int ofOtherNodes() {
        return (int) cluster.pools().stream().filter(this::isElsewhere).count();
    }

    private boolean isElsewhere(PoolId id) {
        return !seen.containsKey(id) && problem(id).isEmpty();
    }

    private Optional<String> problem(PoolId id) {
        Pool pool = seen.get(id);
        if (pool == null) {
            return notSeen(cluster.slices(id));
        }
        if (pool.incomplete() && !behaviour.has(Trait.INCOMPLETE_POOLS_ARE_USED)) {
            return Optional.of("is being updated: it has %d of %d slices".formatted(pool.found(), pool.expected()));
        }
        return pool.isInvalid() ? Optional.of("is invalid: " + pool.problem()) : Optional.empty();
    }

    private Optional<String> notSeen(List<Slice> slices) {
        if (slices.stream().anyMatch(pools::counts)) {
            return Optional.of("is being replaced by a newer generation");
        }
        String gates = slices.stream()
                .flatMap(slice -> pools.missingGate(slice).stream())
                .map(FeatureGate::text)
                .distinct()
                .collect(Collectors.joining(", "));
        return gates.isEmpty() ? Optional.empty() : Optional.of("needs feature gate " + gates);
    }
}
