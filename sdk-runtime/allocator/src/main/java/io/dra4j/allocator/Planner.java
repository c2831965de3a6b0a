// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.rules.ClaimLimits;
import io.dra4j.rules.FeatureGate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Validates claims before the search, and counts the devices that they request. */
final class Planner {
    private final Behaviour behaviour;
    private final RequestChecks checks;
    private final AllDevices allDevices;
    private final List<Plan> plans = new ArrayList<>();

    Planner(Behaviour behaviour, ClusterState cluster, AllDevices allDevices) {
        this.behaviour = behaviour;
        this.checks = new RequestChecks(behaviour, cluster);
        this.allDevices = allDevices;
    }

    /**
     * Returns the alternatives of each request of a claim.
     *
     * @throws AttemptException if one of them can never be allocated, regardless of the others
     */
    List<List<Plan>> plan(Claim claim, int claimIndex) {
        List<List<Plan>> all = new ArrayList<>();
        long least = 0;
        for (DeviceRequest request : claim.requests()) {
            checks.checkGates(claim, request);
            List<Plan> alternatives = new ArrayList<>();
            for (SubRequest asked : request.alternatives()) {
                alternatives.add(plan(claim, claimIndex, request, asked));
            }
            all.add(alternatives);
            least = plus(
                    least, alternatives.stream().mapToLong(Plan::count).min().orElse(0));
        }
        if (least < 0 && behaviour.has(SchedulerBug.COUNT_OVERFLOW)) {
            throw new AttemptException("panic: runtime error: makeslice: cap out of range");
        }
        if (least > ClaimLimits.RESULTS) {
            throw new AttemptException("claim %s: number of requested devices %d exceeds the claim limit of %d"
                    .formatted(claim.fullName(), least, ClaimLimits.RESULTS));
        }
        return all;
    }

    private long plus(long sum, long count) {
        boolean ends = count > Long.MAX_VALUE - sum && !behaviour.has(SchedulerBug.COUNT_OVERFLOW);
        return ends ? Long.MAX_VALUE : sum + count;
    }

    private Plan plan(Claim claim, int claimIndex, DeviceRequest request, SubRequest asked) {
        DeviceClass deviceClass = checks.check(claim, asked);
        Plan plan = new Plan(plans.size(), claimIndex, claim, request, asked, deviceClass, asked.count(), List.of());
        Plan complete = plan.isAll() ? plan.withAll(allDevices.of(plan)) : plan;
        plans.add(complete);
        return complete;
    }

    List<ClaimConstraint> constraints(Claim claim) {
        List<ClaimConstraint> all = new ArrayList<>();
        for (int i = 0; i < claim.constraints().size(); i++) {
            checks.check(claim, i);
            all.add(ClaimConstraint.of(claim.constraints().get(i), behaviour));
        }
        return all;
    }

    List<Plan> plans() {
        return plans;
    }

    /** Rejects claims that a scheduler can never allocate, regardless of the devices. */
    private record RequestChecks(Behaviour behaviour, ClusterState cluster) {

        void checkGates(Claim claim, DeviceRequest request) {
            String subject = Plan.subject(claim, request.name());
            FeatureGate lists = FeatureGate.DRA_PRIORITIZED_LIST;
            if (request.prioritized() && !behaviour.enabled(lists)) {
                throw disabled(subject + "has subrequests", lists);
            }
            if (!behaviour.consumable()
                    && request.alternatives().stream()
                            .anyMatch(one -> !one.capacity().isEmpty())) {
                throw disabled(subject + "has capacity requests", FeatureGate.DRA_CONSUMABLE_CAPACITY);
            }
        }

        private static AttemptException disabled(String problem, FeatureGate gate) {
            return new AttemptException("%s, but the %s feature is disabled".formatted(problem, gate.text()));
        }

        /** Rejects an alternative with unknown fields, and returns its class. */
        DeviceClass check(Claim claim, SubRequest asked) {
            String subject = Plan.subject(claim, asked.name());
            int foreign = asked.selectors().indexOf("");
            if (foreign >= 0) {
                throw new AttemptException(
                        "claim %s, request %s, selector #%d: CEL expression empty (unsupported selector type?)"
                                .formatted(claim.fullName(), asked.name(), foreign));
            }
            if (asked.adminAccess() && !behaviour.enabled(FeatureGate.DRA_ADMIN_ACCESS)) {
                throw new AttemptException(subject + "admin access is requested, but the feature is disabled");
            }
            DeviceClass deviceClass = deviceClass(asked.deviceClass(), subject);
            if (!List.of(SubRequest.EXACT_COUNT, SubRequest.ALL).contains(asked.mode())) {
                throw new AttemptException(subject + "unsupported count mode " + asked.mode());
            }
            return deviceClass;
        }

        private DeviceClass deviceClass(String name, String subject) {
            if (name.isEmpty()) {
                throw new AttemptException(subject + "missing device class name (unsupported request type?)");
            }
            return cluster.deviceClass(name)
                    .orElseThrow(() ->
                            new AttemptException("%scould not retrieve device class %s: deviceclasses \"%s\" not found"
                                    .formatted(subject, name, name)));
        }

        /** Rejects a constraint that is unknown, or whose gate is off. */
        void check(Claim claim, int index) {
            Constraint.Kind kind = claim.constraints().get(index).kind();
            boolean known =
                    kind == Constraint.Kind.MATCH || (kind == Constraint.Kind.DISTINCT && behaviour.consumable());
            if (!known) {
                throw new AttemptException("claim %s, constraint #%d: empty constraint (unsupported constraint type?)"
                        .formatted(claim.fullName(), index));
            }
        }
    }

    /** Finds the devices of a request for all devices. */
    record AllDevices(
            Behaviour behaviour,
            List<Pool> pools,
            List<Candidate> candidates,
            Selection selection,
            TakenShares shares,
            Trace trace) {
        /** Returns the devices of all pools that can be selected and have the capacity. */
        List<Candidate> of(Plan plan) {
            List<Candidate> all = new ArrayList<>();
            for (Pool pool : pools) {
                if (pool.incomplete() || pool.isInvalid()) {
                    String subject = plan.subject() + "asks for all devices, but resource pool " + pool.id();
                    throw new AttemptException(
                            subject + (pool.incomplete() ? " is currently being updated" : " is currently invalid"),
                            !behaviour.has(SchedulerBug.ALL_FAILS_ON_ALL_NODES));
                }
                for (Candidate candidate : candidates) {
                    if (candidate.pool() == pool && passes(plan, candidate)) {
                        all.add(candidate);
                    }
                }
            }
            return all;
        }

        private boolean passes(Plan plan, Candidate candidate) {
            Obstacle obstacle = selection.check(plan, candidate);
            if (obstacle == null) {
                obstacle = checkCapacity(plan.asked(), candidate);
            }
            if (obstacle != null) {
                trace.refused(plan, candidate, obstacle);
            }
            return obstacle == null;
        }

        private @Nullable Obstacle checkCapacity(SubRequest asked, Candidate candidate) {
            return behaviour.has(Trait.ALL_BY_CAPACITY_LEFT)
                    ? shares.check(asked.capacity(), candidate)
                    : shares.checkWhole(asked.capacity(), candidate);
        }
    }
}
