// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.NodeViews;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.NodeInfo;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.FeatureGates;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Allocates a subject's claims on each node, as the server's scheduler does. */
final class Attempts {
    static final String EXCLUDES = " excludes it";
    static final String CORDONED = "the node is cordoned: it takes no new pods";
    private static final String ALLOCATED = "its claim ";
    private static final String NOT_SELECTED = "its node";

    private final List<NodeInfo> nodes;
    private final Map<String, ClaimInfo> claims;
    private final Subject subject;
    private final NodeViews views;
    private final Extended extended;
    private final Allocator released;
    private final Allocator correct;
    private final FeatureGates gates;
    private final InstantSource clock;
    private final Set<SchedulerBug> bugs;
    private final Reclassified reclassified = new Reclassified();

    Attempts(Snapshot snapshot, Subject subject, FeatureGates gates, InstantSource clock) {
        this.nodes = snapshot.nodes();
        this.claims = snapshot.claims();
        this.subject = subject;
        this.views = new NodeViews(snapshot.cluster());
        this.extended = new Extended(snapshot, subject);
        this.gates = gates;
        this.clock = clock;
        this.bugs = SchedulerBug.of(snapshot.release(), snapshot.server());
        this.released = Allocator.of(gates, bugs, clock);
        this.correct = Allocator.of(gates, Set.of(), clock);
    }

    /**
     * The result of one node.
     *
     * @param excluded why the node was not tried; empty if it was
     * @param outcome the outcome in the scheduler's release; null if the node was not tried
     * @param bug the bug without which the claims would fit
     */
    record Attempt(
            Node node,
            List<Claim> claims,
            String excluded,
            @Nullable Outcome outcome,
            Set<SchedulerBug> bug) {

        boolean fits() {
            return outcome instanceof Outcome.Allocated;
        }

        /** Returns whether a claim that has devices of other nodes keeps the pod away. */
        boolean isAllocatedElsewhere() {
            return excluded.startsWith(ALLOCATED);
        }
    }

    ClusterState view(Node node) {
        return views.of(node);
    }

    /** The allocator with the release's behaviour. */
    Allocator released() {
        return released;
    }

    /** The allocator without the bugs of the release. */
    Allocator correct() {
        return correct;
    }

    /** Tries all nodes; a result that ends the attempt ends it for all. */
    List<Attempt> of(List<NodeInfo> nodes) {
        return nodes.parallelStream().map(this::attempt).toList();
    }

    private Attempt attempt(NodeInfo node) {
        String excluded = excluded(node);
        return excluded.isEmpty() ? tried(node) : new Attempt(node.node(), List.of(), excluded, null, Set.of());
    }

    private Attempt tried(NodeInfo info) {
        List<Claim> claims = new ArrayList<>(subject.pending());
        extended.claim(info).ifPresent(claims::add);
        if (claims.isEmpty() && subject.allocated().isEmpty()) {
            return new Attempt(info.node(), claims, extended.ofPlugin(info), null, Set.of());
        }
        Node node = info.node();
        ClusterState view = views.of(node);
        Outcome outcome = released.allocate(view, node, claims);
        Set<SchedulerBug> deciding = isOpenToBugs(outcome, view) ? deciding(view, node, claims) : Set.of();
        return new Attempt(node, claims, "", reclassified.of(outcome, claims, view), deciding);
    }

    /** The bugs that refuse devices concern counters, constraints, names, and rules without a selector. */
    private boolean isOpenToBugs(Outcome outcome, ClusterState view) {
        boolean every = view.taintRules().stream().anyMatch(rule -> !rule.hasSelector());
        return !bugs.isEmpty()
                && outcome instanceof Outcome.DoesNotFit refused
                && refused.requests().stream()
                        .flatMap(one -> one.devices().values().stream())
                        .anyMatch(one -> one instanceof Obstacle.CounterShort
                                || one instanceof Obstacle.NotTogether
                                || one instanceof Obstacle.NoCapacity
                                || (every && one instanceof Obstacle.Tainted));
    }

    /** The bugs that reject claims that would fit: individually or together with others. */
    private Set<SchedulerBug> deciding(ClusterState view, Node node, List<Claim> claims) {
        Set<SchedulerBug> deciding = EnumSet.noneOf(SchedulerBug.class);
        if (correct.allocate(view, node, claims) instanceof Outcome.Allocated) {
            for (SchedulerBug bug : bugs) {
                if (fits(without(bug), view, node, claims) || !fits(Set.of(bug), view, node, claims)) {
                    deciding.add(bug);
                }
            }
        }
        return deciding;
    }

    private boolean fits(Set<SchedulerBug> bugs, ClusterState view, Node node, List<Claim> claims) {
        return Allocator.of(gates, bugs, clock).allocate(view, node, claims) instanceof Outcome.Allocated;
    }

    private Set<SchedulerBug> without(SchedulerBug bug) {
        Set<SchedulerBug> others = EnumSet.copyOf(bugs);
        others.remove(bug);
        return others;
    }

    /** The bugs without which no error, or another one, would keep the pod from all nodes. */
    Set<SchedulerBug> ending(Attempt attempt) {
        Set<SchedulerBug> ending = EnumSet.noneOf(SchedulerBug.class);
        if (attempt.outcome() instanceof Outcome.Failed failed && Failure.of(failed.message()) != Failure.TIMEOUT) {
            for (SchedulerBug bug : bugs) {
                Outcome without = Allocator.of(gates, without(bug), clock)
                        .allocate(view(attempt.node()), attempt.node(), attempt.claims());
                if (!without.equals(failed) && (without instanceof Outcome.Failed || nodes.size() > 1)) {
                    ending.add(bug);
                }
            }
        }
        return ending;
    }

    /** Returns whether the claims fit on a node that is excluded only by a cordon or by the pod itself. */
    boolean fitsIfLetIn(Attempt attempt) {
        boolean isOpen =
                attempt.excluded().equals(CORDONED) || attempt.excluded().startsWith(NOT_SELECTED);
        if (!isOpen) {
            return false;
        }
        Optional<NodeInfo> found =
                nodes.stream().filter(one -> one.node().equals(attempt.node())).findFirst();
        return found.filter(one -> reasons(one).size() == 1)
                .filter(one -> tried(one).fits())
                .isPresent();
    }

    /** Returns why the pod can't go to a node, as far as the pod and its claims show. */
    private String excluded(NodeInfo info) {
        return reasons(info).stream().findFirst().orElse("");
    }

    private List<String> reasons(NodeInfo info) {
        List<String> reasons = new ArrayList<>();
        for (Subject.Allocated one : subject.allocated()) {
            if (one.nodes() != null && !one.nodes().matches(info.node())) {
                reasons.add("%s%s already has devices of %s%s"
                        .formatted(ALLOCATED, one.claim().fullName(), NameList.some(nodesOf(one)), users(one)));
            }
        }
        if (!info.schedulable()) {
            reasons.add(CORDONED);
        }
        JsonNode pod = subject.pod();
        if (pod != null) {
            notSelected(pod, info).ifPresent(one -> reasons.add(one + EXCLUDES));
        }
        String missing = extended.missing(info);
        if (!missing.isEmpty()) {
            reasons.add(missing);
        }
        return reasons;
    }

    private List<String> nodesOf(Subject.Allocated one) {
        List<String> names = nodes.stream()
                .filter(info -> one.nodes() == null || one.nodes().matches(info.node()))
                .map(NodeInfo::name)
                .toList();
        return names.isEmpty() ? List.of("a node that is gone") : names;
    }

    private String users(Subject.Allocated one) {
        ClaimInfo info = claims.get(one.claim().fullName());
        return info == null || info.pods().isEmpty() ? "" : ", for pod %s".formatted(NameList.some(info.pods()));
    }

    /** Returns the only claim that keeps the pod away, if it could be allocated here instead. */
    Optional<String> fitsIfAllocatedAgain(Attempt attempt) {
        if (!attempt.isAllocatedElsewhere()) {
            return Optional.empty();
        }
        Optional<NodeInfo> info =
                nodes.stream().filter(one -> one.node().equals(attempt.node())).findFirst();
        List<Subject.Allocated> elsewhere = subject.allocated().stream()
                .filter(one -> one.nodes() != null)
                .filter(one -> !one.nodes().matches(attempt.node()))
                .toList();
        if (elsewhere.size() != 1 || info.map(one -> reasons(one).size()).orElse(0) != 1) {
            return Optional.empty();
        }
        Claim claim = elsewhere.get(0).claim();
        return isAllocatedAgain(claim, attempt.node()) ? Optional.of(claim.fullName()) : Optional.empty();
    }

    private boolean isAllocatedAgain(Claim claim, Node node) {
        List<Claim> again = new ArrayList<>(subject.pending());
        again.add(new Claim(claim.namespace(), claim.name(), claim.requests(), claim.constraints(), List.of()));
        ClusterState view = views.of(node);
        List<Claim> others = view.claims().stream()
                .filter(one -> !one.fullName().equals(claim.fullName()))
                .toList();
        ClusterState without = new ClusterState(view.classes(), view.slices(), others, view.taintRules());
        return released.allocate(without, node, again) instanceof Outcome.Allocated;
    }

    /** Returns what in the pod excludes a node. */
    private static Optional<String> notSelected(JsonNode pod, NodeInfo info) {
        Map<String, String> labels = info.node().labels();
        Optional<String> label = pod.at("/spec/nodeSelector").properties().stream()
                .filter(one -> !one.getValue().asText().equals(labels.get(one.getKey())))
                .map(one -> one.getKey() + "=" + one.getValue().asText())
                .findFirst();
        if (label.isPresent()) {
            return label.map(one -> NOT_SELECTED + "Selector " + one);
        }
        JsonNode affinity = pod.at("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
        return affinity.isObject() && !NodeSelector.of(affinity).matches(info.node())
                ? Optional.of(NOT_SELECTED + " affinity")
                : Optional.empty();
    }

    /** Returns which pods share the claims that the subject already has; empty if none does. */
    String sharing() {
        List<String> shared = subject.allocated().stream()
                .map(one -> claims.get(one.claim().fullName()))
                .filter(Objects::nonNull)
                .filter(one -> !one.pods().isEmpty())
                .map(one ->
                        "it shares claim %s with pod %s".formatted(one.claim().fullName(), NameList.some(one.pods())))
                .toList();
        return shared.isEmpty() ? "" : " (" + String.join(", ", shared) + ")";
    }
}
