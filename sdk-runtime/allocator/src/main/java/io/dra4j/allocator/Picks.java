// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.Toleration;
import io.dra4j.rules.FeatureGate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The devices that a search has taken so far, and the checks of the next one. */
final class Picks {
    private static final Set<String> EFFECTS = Set.of("NoSchedule", "NoExecute");

    /**
     * A device that was taken.
     *
     * @param charged whether its counters were charged
     */
    record Pick(Plan plan, Candidate candidate, boolean shared, boolean charged, Map<String, Quantity> consumed) {}

    private final Behaviour behaviour;
    private final ClusterState cluster;
    private final Counters counters;
    private final TakenShares shares;
    private final List<List<ClaimConstraint>> constraints;
    private final Deque<Pick> taken = new ArrayDeque<>();
    private final Map<DeviceId, List<Plan>> exclusive = new HashMap<>();

    Picks(Behaviour behaviour, ClusterState cluster, List<List<ClaimConstraint>> constraints) {
        this.behaviour = behaviour;
        this.cluster = cluster;
        this.counters = new Counters(behaviour, cluster);
        this.shares = new TakenShares(behaviour, cluster);
        this.constraints = constraints;
    }

    @Nullable
    Obstacle checkUse(Plan plan, Candidate candidate) {
        List<Plan> others = exclusive.getOrDefault(candidate.id(), List.of());
        boolean admin = plan.asked().adminAccess();
        for (Plan other : others) {
            if (!admin || other.claimIndex() == plan.claimIndex()) {
                return new Obstacle.Picked(other.claim().fullName(), other.resultName());
            }
        }
        List<Holder> all = cluster.holders(candidate.id());
        if (admin || all.isEmpty()) {
            return null;
        }
        List<Holder> holders = all.stream()
                .filter(one -> one.device().isExclusive() || (one.device().isShare() && !shares(candidate)))
                .toList();
        return holders.isEmpty() ? null : new Obstacle.InUse(holders);
    }

    /** Returns whether the holders of a device leave the rest of it to this search. */
    private boolean shares(Candidate candidate) {
        return behaviour.consumable()
                && (candidate.device().sharing() || behaviour.has(SchedulerBug.EXCLUSIVE_OVER_SHARES));
    }

    @Nullable
    Obstacle checkCapacity(Plan plan, Candidate candidate) {
        return shares.check(plan.asked().capacity(), candidate);
    }

    /** Takes a device that passed the earlier checks, or returns why it cannot be taken. */
    @Nullable
    Obstacle take(Plan plan, Candidate candidate) {
        Obstacle inUse = checkUse(plan, candidate);
        if (inUse != null) {
            return inUse;
        }
        boolean shared = behaviour.consumable() && candidate.device().sharing();
        boolean consumes = !candidate.device().consumes().isEmpty();
        if (consumes && !behaviour.partitionable()) {
            return new Obstacle.GateOff(FeatureGate.DRA_PARTITIONABLE_DEVICES.text());
        }
        boolean charged = consumes && !(shared && shares.isShared(candidate.id()));
        Obstacle obstacle = charged ? counters.charge(candidate) : null;
        if (obstacle != null) {
            return obstacle;
        }
        obstacle = checkCharged(plan, candidate);
        if (obstacle != null) {
            if (charged && !behaviour.has(SchedulerBug.COUNTER_LEAK)) {
                counters.giveBack(candidate);
            }
            return obstacle;
        }
        add(plan, candidate, shared, charged);
        return null;
    }

    private void add(Plan plan, Candidate candidate, boolean shared, boolean charged) {
        Map<String, Quantity> consumed = shared ? shares.take(plan, candidate) : Map.of();
        if (!shared) {
            exclusive.computeIfAbsent(candidate.id(), id -> new ArrayList<>(1)).add(plan);
        }
        taken.push(new Pick(plan, candidate, shared, charged, consumed));
    }

    /** The checks that come after the counters. */
    private @Nullable Obstacle checkCharged(Plan plan, Candidate candidate) {
        Obstacle taint = checkTaints(plan, candidate);
        if (taint != null) {
            return taint;
        }
        List<ClaimConstraint> all = constraints.get(plan.claimIndex());
        for (int i = 0; i < all.size(); i++) {
            Obstacle obstacle = all.get(i).add(plan, candidate);
            if (obstacle != null) {
                all.subList(0, i).forEach(one -> one.remove(plan));
                return obstacle;
            }
        }
        Obstacle capacity = shares.check(plan.asked().capacity(), candidate);
        if (capacity != null && !behaviour.has(SchedulerBug.COUNTER_LEAK)) {
            all.forEach(one -> one.remove(plan));
        }
        return capacity;
    }

    /** Releases the device that was taken last. */
    void giveBack() {
        Pick pick = taken.pop();
        constraints.get(pick.plan.claimIndex()).forEach(one -> one.remove(pick.plan));
        if (pick.shared) {
            shares.giveBack(pick.candidate, pick.consumed);
        } else {
            List<Plan> plans = exclusive.getOrDefault(pick.candidate.id(), List.of());
            plans.remove(plans.size() - 1);
        }
        if (pick.charged && !(pick.shared && behaviour.has(SchedulerBug.COUNTER_LEAK))) {
            counters.giveBack(pick.candidate);
        }
    }

    /** The devices that are taken, in the order in which they were taken. */
    List<Pick> taken() {
        List<Pick> inOrder = new ArrayList<>();
        taken.descendingIterator().forEachRemaining(inOrder::add);
        return inOrder;
    }

    int count(int claimIndex) {
        return (int) taken.stream()
                .filter(pick -> pick.plan.claimIndex() == claimIndex)
                .count();
    }

    /** Returns the first taint that is not tolerated, or null. */
    private @Nullable Obstacle checkTaints(Plan plan, Candidate candidate) {
        if (!behaviour.enabled(FeatureGate.DRA_DEVICE_TAINTS)) {
            return null;
        }
        List<Toleration> tolerations = plan.asked().tolerations();
        for (Taint taint : candidate.device().taints()) {
            boolean counts = behaviour.has(Trait.EVERY_TAINT_COUNTS) || EFFECTS.contains(taint.effect());
            if (counts && tolerations.stream().noneMatch(one -> one.tolerates(taint))) {
                return new Obstacle.Tainted(taint);
            }
        }
        return null;
    }
}
