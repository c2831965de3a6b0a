// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.Planner.AllDevices;
import io.dra4j.allocator.Search.Matches;
import io.dra4j.allocator.cel.DeviceVariable;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeChoice;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.allocator.model.NodeSelector.Requirement;
import io.dra4j.allocator.model.NodeSelector.Term;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.rules.FeatureGate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One attempt to allocate claims on a node. */
final class Attempt {
    private static final String DOES_NOT_FIT = "cannot allocate all claims";
    private static final String INVALID_POOLS = "invalid resource pools were encountered";

    private final Behaviour behaviour;
    private final ClusterState cluster;
    private final Node node;
    private final Pools pools;
    private final List<Pool> found;
    private final List<Candidate> candidates;
    private final Selection selection;
    private final Trace trace = new Trace();

    Attempt(Behaviour behaviour, Expressions expressions, ClusterState cluster, Node node) {
        this.behaviour = behaviour;
        this.cluster = cluster;
        this.node = node;
        this.pools = new Pools(behaviour, cluster, node);
        this.found = pools.find();
        this.candidates = new Candidates(behaviour, cluster).of(found);
        this.selection = new Selection(behaviour, expressions, node);
    }

    Outcome allocate(List<Claim> claims, NodeDeadline deadline) {
        Planner planner = new Planner(behaviour, cluster, allDevices());
        try {
            return allocate(claims, planner, deadline);
        } catch (AttemptException e) {
            if (e.isOfNode()) {
                return doesNotFit(e.message(), planner.plans());
            }
            throw e;
        }
    }

    private Outcome allocate(List<Claim> claims, Planner planner, NodeDeadline deadline) {
        List<List<List<Plan>>> plans = new ArrayList<>();
        List<List<ClaimConstraint>> constraints = new ArrayList<>();
        for (Claim claim : claims) {
            plans.add(planner.plan(claim, plans.size()));
            constraints.add(planner.constraints(claim));
        }
        Picks picks = new Picks(behaviour, cluster, constraints);
        Matches matches = new Matches(selection, candidates.size());
        Search search = new Search(behaviour, plans, candidates, matches, picks, deadline, trace);
        return search.fits() ? allocated(claims, picks) : doesNotFit(message(), planner.plans());
    }

    private String message() {
        return found.stream().anyMatch(Pool::isInvalid) ? INVALID_POOLS : DOES_NOT_FIT;
    }

    private AllDevices allDevices() {
        TakenShares shares = new TakenShares(behaviour, cluster);
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

    private Outcome doesNotFit(String message, List<Plan> plans) {
        Map<PoolId, Pool> seen = found.stream().collect(Collectors.toMap(Pool::id, Function.identity()));
        UnusedPools unused = new UnusedPools(behaviour, cluster, pools, seen);
        return new Outcome.DoesNotFit(message, trace.requests(plans), unused.obstacles(), unused.ofOtherNodes());
    }

    /** Creates allocations from the devices that a search took. */
    private record Results(Node node, List<Picks.Pick> taken) {

        Allocation of(Claim claim, int claimIndex) {
            List<Picks.Pick> picks = taken.stream()
                    .filter(pick -> pick.plan().claimIndex() == claimIndex)
                    .toList();
            return new Allocation(
                    claim.fullName(), picks.stream().map(Results::device).toList(), nodes(picks));
        }

        private static AllocatedDevice device(Picks.Pick pick) {
            Device device = pick.candidate().device();
            return new AllocatedDevice(
                    pick.plan().resultName(),
                    pick.candidate().id(),
                    pick.plan().asked().adminAccess(),
                    pick.shared(),
                    pick.consumed(),
                    pick.plan().asked().tolerations(),
                    device.bindingConditions(),
                    device.bindingFailureConditions());
        }

        /** One local device pins the claim to the node; otherwise all selectors have to match. */
        private @Nullable NodeSelector nodes(List<Picks.Pick> picks) {
            Set<Requirement> labels = new LinkedHashSet<>();
            Set<Requirement> fields = new LinkedHashSet<>();
            for (Picks.Pick pick : picks) {
                Candidate candidate = pick.candidate();
                NodeChoice nodes = candidate.slice().perDevice()
                        ? candidate.device().nodes()
                        : candidate.slice().nodes();
                if (nodes.nodeName() != null || candidate.device().bindsToNode()) {
                    return NodeSelector.ofNode(node.name());
                }
                if (nodes.selector() != null) {
                    nodes.selector().terms().forEach(term -> labels.addAll(term.labels()));
                    nodes.selector().terms().forEach(term -> fields.addAll(term.fields()));
                }
            }
            return labels.isEmpty() && fields.isEmpty()
                    ? null
                    : new NodeSelector(List.of(new Term(List.copyOf(labels), new ArrayList<>(fields))));
        }
    }

    /** Finds the pools whose devices a node could not use, with the reasons. */
    private record UnusedPools(Behaviour behaviour, ClusterState cluster, Pools pools, Map<PoolId, Pool> seen) {

        /** Returns them by name, except those of other nodes. */
        List<PoolObstacle> obstacles() {
            List<PoolObstacle> obstacles = new ArrayList<>();
            for (PoolId id : cluster.pools()) {
                problem(id).ifPresent(problem -> obstacles.add(new PoolObstacle(id, problem)));
            }
            return List.copyOf(obstacles);
        }

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

    /** Lists the devices of pools, in the order in which they are tried. */
    private static final class Candidates {
        private final Behaviour behaviour;
        private final List<TaintRule> rules;

        Candidates(Behaviour behaviour, ClusterState cluster) {
            this.behaviour = behaviour;
            this.rules = !behaviour.gates().followsTaintRules()
                    ? List.of()
                    : cluster.taintRules().stream()
                            .filter(rule ->
                                    rule.hasSelector() || behaviour.has(SchedulerBug.TAINT_RULE_WITHOUT_SELECTOR))
                            .toList();
        }

        /** Returns the devices that a request may get, without those of pools that cannot be used. */
        List<Candidate> of(List<Pool> pools) {
            List<Candidate> all = new ArrayList<>();
            for (Pool pool : pools) {
                if (isUsed(pool)) {
                    addTo(all, pool);
                }
            }
            return all;
        }

        private boolean isUsed(Pool pool) {
            return (!pool.incomplete() || behaviour.has(Trait.INCOMPLETE_POOLS_ARE_USED))
                    && (!pool.isInvalid() || behaviour.has(Trait.INVALID_POOLS_ARE_FATAL));
        }

        private void addTo(List<Candidate> all, Pool pool) {
            for (Slice slice : pool.slices()) {
                if (!slice.sharedCounters().isEmpty() && !behaviour.has(Trait.COUNTERS_IN_DEVICE_SLICE)) {
                    continue;
                }
                for (Device device : slice.devices()) {
                    DeviceId id = slice.id(device);
                    Device tainted = tainted(device, id);
                    DeviceVariable variable = new DeviceVariable(id.driver(), device, behaviour.listsInExpressions());
                    all.add(new Candidate(all.size(), pool, slice, tainted, id, variable));
                }
            }
        }

        private Device tainted(Device device, DeviceId id) {
            List<Taint> added = rules.stream()
                    .filter(rule -> rule.selects(id))
                    .map(TaintRule::taint)
                    .toList();
            if (added.isEmpty()) {
                return device;
            }
            List<Taint> taints = new ArrayList<>(device.taints());
            taints.addAll(added);
            return device.withTaints(List.copyOf(taints));
        }
    }
}
