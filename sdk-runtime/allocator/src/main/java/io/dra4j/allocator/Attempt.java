// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import java.util.ArrayList;
import java.util.List;

/** One attempt to allocate claims on a node. */
final class Attempt {
    private static final String DOES_NOT_FIT = "cannot allocate all claims";
    private static final String INVALID_POOLS = "invalid resource pools were encountered";

    private final Behaviour behaviour;
    private final Cluster cluster;
    private final Node node;
    private final Pools pools;
    private final List<Pool> found;
    private final List<Candidate> candidates;
    private final Selection selection;
    private final Trace trace = new Trace();

    Attempt(Behaviour behaviour, Expressions expressions, Cluster cluster, Node node) {
        this.behaviour = behaviour;
        this.cluster = cluster;
        this.node = node;
        this.pools = new Pools(behaviour, cluster, node);
        this.found = pools.find();
        this.candidates = new Candidates(behaviour, cluster).of(found);
        this.selection = new Selection(behaviour, expressions, node);
    }

    /**
     * @throws AttemptException if the attempt has to end for all nodes
     */
    Outcome allocate(List<Claim> claims, Deadline deadline) {
        Planner planner = new Planner(behaviour, cluster, allDevices());
        List<List<List<Plan>>> plans = new ArrayList<>();
        List<List<ClaimConstraint>> constraints = new ArrayList<>();
        for (Claim claim : claims) {
            plans.add(planner.plan(claim, plans.size()));
            constraints.add(planner.constraints(claim));
        }
        Picks picks = new Picks(behaviour, cluster, constraints);
        Matches matches = new Matches(selection, candidates.size());
        Search search = new Search(behaviour, plans, candidates, matches, picks, deadline, trace);
        return search.fits() ? allocated(claims, picks) : doesNotFit(planner.plans());
    }

    private AllDevices allDevices() {
        Shares shares = new Shares(behaviour, cluster);
        return new AllDevices(behaviour, found, candidates, selection, shares, trace);
    }

    private Outcome allocated(List<Claim> claims, Picks picks) {
        Results results = new Results(node, picks.taken());
        List<Allocation> allocations = new ArrayList<>();
        for (Claim claim : claims) {
            allocations.add(results.of(claim, allocations.size()));
        }
        return new Outcome.Allocated(allocations);
    }

    private Outcome doesNotFit(List<Plan> plans) {
        boolean invalid = found.stream().anyMatch(Pool::isInvalid);
        UnusedPools unused = new UnusedPools(behaviour, cluster, pools, found);
        return new Outcome.DoesNotFit(
                invalid ? INVALID_POOLS : DOES_NOT_FIT,
                trace.requests(plans),
                unused.obstacles(),
                unused.ofOtherNodes());
    }
}
