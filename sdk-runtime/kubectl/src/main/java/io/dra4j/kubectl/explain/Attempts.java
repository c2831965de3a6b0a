// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.Cluster;
import io.dra4j.allocator.NodeViews;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.kubectl.read.NodeInfo;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.FeatureGates;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Allocates a subject's claims on each node, as the server's scheduler does. */
final class Attempts {
    private final Subject subject;
    private final NodeViews views;
    private final Extended extended;
    private final Allocator released;
    private final Allocator correct;
    private final FeatureGates gates;
    private final Set<SchedulerBug> bugs;
    private final Reclassified reclassified = new Reclassified();

    Attempts(Snapshot snapshot, Subject subject, FeatureGates gates) {
        this.subject = subject;
        this.views = new NodeViews(snapshot.cluster());
        this.extended = new Extended(snapshot, subject);
        this.gates = gates;
        this.bugs = SchedulerBug.of(snapshot.release(), snapshot.server());
        this.released = Allocator.of(gates, bugs, InstantSource.system());
        this.correct = Allocator.of(gates);
    }

    /**
     * The result of one node.
     *
     * @param claims that were tried there
     * @param excluded why the node was not tried; empty if it was
     * @param outcome of the scheduler's release; null if the node was not tried
     * @param bug without which it would fit
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
    }

    /** The view of the cluster that a node has. */
    Cluster view(Node node) {
        return views.of(node);
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
        return excluded.isEmpty()
                ? tried(node)
                : new Attempt(node.node(), List.of(), excluded, null, Set.of());
    }

    private Attempt tried(NodeInfo info) {
        List<Claim> claims = new ArrayList<>(subject.pending());
        extended.claim(info).ifPresent(claims::add);
        if (claims.isEmpty() && subject.allocated().isEmpty()) {
            return new Attempt(info.node(), claims, extended.ofPlugin(info), null, Set.of());
        }
        Node node = info.node();
        Cluster view = views.of(node);
        Outcome outcome = released.allocate(view, node, claims);
        Set<SchedulerBug> deciding =
                isOpenToBugs(outcome) ? deciding(view, node, claims) : Set.of();
        return new Attempt(node, claims, "", reclassified.of(outcome, claims, view), deciding);
    }

    /** The known bugs concern counters and constraints. */
    private boolean isOpenToBugs(Outcome outcome) {
        return !bugs.isEmpty()
                && outcome instanceof Outcome.DoesNotFit refused
                && refused.requests().stream()
                        .flatMap(one -> one.devices().values().stream())
                        .anyMatch(
                                one ->
                                        one instanceof Obstacle.CounterShort
                                                || one instanceof Obstacle.NotTogether);
    }

    /** The bugs each of which alone keeps claims away that fit. */
    private Set<SchedulerBug> deciding(Cluster view, Node node, List<Claim> claims) {
        if (!(correct.allocate(view, node, claims) instanceof Outcome.Allocated)) {
            return Set.of();
        }
        Set<SchedulerBug> deciding = EnumSet.noneOf(SchedulerBug.class);
        for (SchedulerBug bug : bugs) {
            Outcome outcome =
                    Allocator.of(gates, Set.of(bug), InstantSource.system())
                            .allocate(view, node, claims);
            if (!(outcome instanceof Outcome.Allocated)) {
                deciding.add(bug);
            }
        }
        return deciding.isEmpty() ? bugs : deciding;
    }

    /** Returns why the pod can't go to a node, as far as the pod and its claims show. */
    private String excluded(NodeInfo info) {
        for (Subject.Allocated one : subject.allocated()) {
            if (one.nodes() != null && !one.nodes().matches(info.node())) {
                return "claim %s is allocated already, on other nodes"
                        .formatted(one.claim().fullName());
            }
        }
        if (!info.schedulable()) {
            return "the node is cordoned: it takes no new pods";
        }
        JsonNode pod = subject.pod();
        if (pod == null) {
            return "";
        }
        Map<String, String> labels = info.node().labels();
        boolean selected =
                pod.at("/spec/nodeSelector").properties().stream()
                        .allMatch(one -> one.getValue().asText().equals(labels.get(one.getKey())));
        JsonNode affinity =
                pod.at(
                        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
        if (!selected || (affinity.isObject() && !NodeSelector.of(affinity).matches(info.node()))) {
            return "the pod's nodeSelector or node affinity excludes it";
        }
        return extended.missing(info);
    }
}
