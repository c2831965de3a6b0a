// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.rules.ClaimLimits;
import java.util.ArrayList;
import java.util.List;

/** Checks claims before the search, and counts the devices that they want. */
final class Planner {
    private final Behaviour behaviour;
    private final RequestChecks checks;
    private final AllDevices allDevices;
    private final List<Plan> plans = new ArrayList<>();

    Planner(Behaviour behaviour, Cluster cluster, AllDevices allDevices) {
        this.behaviour = behaviour;
        this.checks = new RequestChecks(behaviour, cluster);
        this.allDevices = allDevices;
    }

    /**
     * Returns the alternatives of each request of a claim.
     *
     * @throws AttemptException if one of them can never be allocated, whatever the others are
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
            least += alternatives.stream().mapToLong(Plan::count).min().orElse(0);
        }
        if (least > ClaimLimits.RESULTS) {
            throw new AttemptException("claim %s: number of requested devices %d exceeds the claim limit of %d"
                    .formatted(claim.fullName(), least, ClaimLimits.RESULTS));
        }
        return all;
    }

    private Plan plan(Claim claim, int claimIndex, DeviceRequest request, SubRequest asked) {
        DeviceClass deviceClass = checks.check(claim, asked);
        Plan plan = new Plan(plans.size(), claimIndex, claim, request, asked, deviceClass, asked.count(), List.of());
        Plan complete = plan.isAll() ? plan.withAll(allDevices.of(plan)) : plan;
        plans.add(complete);
        return complete;
    }

    /** Makes the constraints of a claim. */
    List<ClaimConstraint> constraints(Claim claim) {
        List<ClaimConstraint> all = new ArrayList<>();
        for (int i = 0; i < claim.constraints().size(); i++) {
            checks.check(claim, i);
            all.add(ClaimConstraint.of(claim.constraints().get(i), behaviour));
        }
        return all;
    }

    /** All plans that were made. */
    List<Plan> plans() {
        return plans;
    }
}
