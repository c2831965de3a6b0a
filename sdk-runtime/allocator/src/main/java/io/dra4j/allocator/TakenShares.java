// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Capacity;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.OwnNames;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The capacity of devices that shares consume, for allocated claims and for this search. */
final class TakenShares {

    private static final class Taken {
        private int count;
        private final Map<String, BigDecimal> amounts = new HashMap<>();

        /** Adds a share; if it has a name in both forms, only one counts. */
        private void add(OwnNames names, Map<String, Quantity> consumed, int sign) {
            count += sign;
            BigDecimal factor = BigDecimal.valueOf(sign);
            consumed.forEach((name, amount) -> {
                if (names.counts(consumed, name)) {
                    amounts.merge(names.bare(name), amount.value().multiply(factor), BigDecimal::add);
                }
            });
        }

        private BigDecimal of(OwnNames names, String name) {
            return amounts.getOrDefault(names.bare(name), BigDecimal.ZERO);
        }
    }

    private static final Taken NONE = new Taken();

    private final Behaviour behaviour;
    private final ClusterState cluster;
    private final Amounts amounts;
    private final Map<DeviceId, Taken> held = new HashMap<>();
    private final Map<DeviceId, Taken> picked = new HashMap<>();

    TakenShares(Behaviour behaviour, ClusterState cluster) {
        this.behaviour = behaviour;
        this.cluster = cluster;
        this.amounts = new Amounts(behaviour.enabled(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE));
    }

    private OwnNames names(DeviceId id) {
        return behaviour.names(id.driver());
    }

    private Taken held(DeviceId id) {
        return held.computeIfAbsent(id, this::ofClaims);
    }

    private Taken ofClaims(DeviceId id) {
        Taken taken = new Taken();
        cluster.holders(id).stream()
                .filter(holder -> holder.device().isShare())
                .forEach(holder -> taken.add(names(id), holder.device().consumedCapacity(), 1));
        return taken;
    }

    boolean isShared(DeviceId id) {
        return held(id).count > 0 || picked.getOrDefault(id, NONE).count > 0;
    }

    /** Returns why a device has less capacity left than a request needs, or null. */
    @Nullable
    Obstacle check(Map<String, Quantity> requested, Candidate candidate) {
        return check(requested, candidate, held(candidate.id()));
    }

    /** Returns the same check as if no claim had a share of the device. */
    @Nullable
    Obstacle checkWhole(Map<String, Quantity> requested, Candidate candidate) {
        return check(requested, candidate, NONE);
    }

    private @Nullable Obstacle check(Map<String, Quantity> requested, Candidate candidate, Taken held) {
        if (!behaviour.consumable()) {
            return null;
        }
        Map<String, Capacity> capacities = candidate.device().capacity();
        OwnNames names = names(candidate.id());
        for (String name : requested.keySet()) {
            Optional<Capacity> capacity = names.find(capacities, name);
            if (capacity.isEmpty()) {
                return new Obstacle.NoCapacity(name);
            }
            if (!names.counts(requested, name)) {
                throw new AttemptException("capacity \"%s\" requested both as \"%s\" and as \"%s\""
                        .formatted(names.bare(name), name, names.other(name)));
            }
            Quantity amount = amounts.consumed(requested.get(name), capacity.get());
            if (amount.value().signum() < 0 && behaviour.atLeast(KubernetesVersion.V1_37)) {
                throw new AttemptException("capacity \"%s\": capacity value is negative".formatted(name));
            }
        }
        Taken here = picked.getOrDefault(candidate.id(), NONE);
        for (Map.Entry<String, Capacity> one : capacities.entrySet()) {
            if (!names.counts(capacities, one.getKey())) {
                continue;
            }
            String name = names.key(requested, one.getKey()).orElse(one.getKey());
            BigDecimal taken = held.of(names, name).add(here.of(names, name));
            Obstacle obstacle = check(name, requested.get(name), one.getValue(), taken, candidate);
            if (obstacle != null) {
                return obstacle;
            }
        }
        return null;
    }

    private @Nullable Obstacle check(
            String name, @Nullable Quantity requested, Capacity capacity, BigDecimal taken, Candidate candidate) {
        Quantity amount = amounts.consumed(requested, capacity);
        if (!amounts.allowed(amount, capacity.policy())) {
            return new Obstacle.AmountRefused(name, amount);
        }
        BigDecimal left = capacity.value().value().subtract(taken);
        if (amount.value().compareTo(left) <= 0) {
            return null;
        }
        List<Holder> holders = cluster.holders(candidate.id());
        return new Obstacle.CapacityShort(name, amount, capacity.value().withValue(left), requested != null, holders);
    }

    /** Takes a share of a device, and returns what it consumes. */
    Map<String, Quantity> take(Plan plan, Candidate candidate) {
        OwnNames names = names(candidate.id());
        Map<String, Quantity> consumed = amounts.consumed(
                names, plan.asked().capacity(), candidate.device().capacity());
        picked.computeIfAbsent(candidate.id(), id -> new Taken()).add(names, consumed, 1);
        return consumed;
    }

    void giveBack(Candidate candidate, Map<String, Quantity> consumed) {
        if (consumed.isEmpty() && behaviour.has(SchedulerBug.COUNTER_LEAK)) {
            return;
        }
        picked.computeIfAbsent(candidate.id(), id -> new Taken()).add(names(candidate.id()), consumed, -1);
    }
}
