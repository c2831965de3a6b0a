// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.explain.Change;
import io.dra4j.allocator.explain.Explainer;
import io.dra4j.allocator.explain.Explanation;
import io.dra4j.allocator.explain.Question;
import io.dra4j.allocator.explain.Way;
import io.dra4j.allocator.model.Claim;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import io.dra4j.kubectl.explain.Remedy.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Finds the smallest changes that make claims fit, on the nodes that are nearest to it. */
final class Remedies {
    private static final int NODES = 3;
    private static final int MOST = 6;
    private static final int MOST_NODES = 100;
    private static final Duration LIMIT = Duration.ofMillis(1000);

    private final Attempts attempts;
    private final Steps steps;
    private final Allocator allocator;
    private final Explainer explainer;
    private final InstantSource clock;
    private boolean isCutShort;

    Remedies(Attempts attempts, Steps steps, Allocator allocator, InstantSource clock) {
        this.attempts = attempts;
        this.steps = steps;
        this.allocator = allocator;
        this.clock = clock;
        this.explainer = new Explainer(allocator, clock, LIMIT);
    }

    /** Returns whether there was no time to try all changes. */
    boolean isCutShort() {
        return isCutShort;
    }

    /** Tries changes on the nodes of the nearest groups; least disruptive first. */
    List<Remedy> of(List<AlikeNodes> groups) {
        Map<List<String>, Remedy> all = new LinkedHashMap<>();
        releases(groups).forEach(one -> all.put(one.texts(), one));
        otherNodes(groups).forEach(one -> all.put(one.texts(), one));
        allocateAgain(groups).forEach(one -> all.put(one.texts(), one));
        groups.stream()
                .map(AlikeNodes::nearest)
                .filter(one -> one.outcome() != null)
                .limit(NODES)
                .flatMap(one -> changes(one).stream())
                .forEach(one -> all.putIfAbsent(one.texts(), one));
        return all.values().stream().sorted(Remedy.LEAST_HARM).limit(MOST).toList();
    }

    private record Candidate(Attempt attempt, Claim claim, Step step) {}

    /** Finds the best claim to release for each kind of harm, on any of the nearest nodes. */
    private Collection<Remedy> releases(List<AlikeNodes> groups) {
        List<Candidate> candidates = new ArrayList<>();
        groups.stream()
                .limit(NODES)
                .flatMap(group -> group.attempts().stream().limit(MOST_NODES))
                .filter(one -> one.outcome() instanceof Outcome.DoesNotFit)
                .forEach(one -> addCandidates(candidates, one));
        candidates.sort(Comparator.<Candidate, Harm>comparing(one -> one.step().harm())
                .thenComparing(one -> one.step().pods())
                .thenComparing(one -> one.claim().devices().size()));
        Instant end = clock.instant().plus(LIMIT);
        Map<Harm, Remedy> best = new EnumMap<>(Harm.class);
        for (Candidate one : candidates) {
            if (!best.containsKey(one.step().harm()) && clock.instant().isBefore(end) && fits(one)) {
                String node = one.attempt().node().name();
                best.put(one.step().harm(), new Remedy(node, List.of(one.step())));
            }
        }
        return best.values();
    }

    private void addCandidates(List<Candidate> candidates, Attempt attempt) {
        attempts.view(attempt.node()).claims().stream()
                .filter(claim -> !claim.devices().isEmpty())
                .map(claim -> new Candidate(attempt, claim, steps.release(claim.fullName())))
                .forEach(candidates::add);
    }

    private boolean fits(Candidate candidate) {
        Attempt attempt = candidate.attempt();
        ClusterState view = attempts.view(attempt.node());
        ClusterState without = withClaims(
                view,
                view.claims().stream().filter(one -> one != candidate.claim()).toList());
        return allocator.allocate(without, attempt.node(), attempt.claims()) instanceof Outcome.Allocated;
    }

    private static ClusterState withClaims(ClusterState view, List<Claim> claims) {
        return new ClusterState(view.classes(), view.slices(), claims, view.taintRules());
    }

    /** Finds a node that would fit if the pod could go there. */
    private List<Remedy> otherNodes(List<AlikeNodes> groups) {
        return groups.stream()
                .flatMap(group -> group.attempts().stream().limit(MOST_NODES))
                .filter(one -> attempts.fitsIfLetIn(one))
                .findFirst()
                .map(one -> new Remedy(one.node().name(), List.of(Steps.letIn(one, attempts.sharing()))))
                .stream()
                .toList();
    }

    /** Finds a node to which a claim could move when the pods that use it have ended. */
    private List<Remedy> allocateAgain(List<AlikeNodes> groups) {
        List<Remedy> found = new ArrayList<>();
        groups.stream()
                .flatMap(group -> group.attempts().stream().limit(MOST_NODES))
                .forEach(one -> attempts.fitsIfAllocatedAgain(one)
                        .map(steps::release)
                        .filter(step -> step.harm().endsPods())
                        .map(step -> new Remedy(one.node().name(), List.of(step)))
                        .ifPresent(found::add));
        return found.stream().limit(1).toList();
    }

    private List<Remedy> changes(Attempt attempt) {
        ClusterState view = attempts.view(attempt.node());
        List<Claim> leastHarmFirst = view.claims().stream()
                .sorted(Comparator.<Claim, Harm>comparing(
                                one -> steps.release(one.fullName()).harm())
                        .thenComparing(one -> steps.release(one.fullName()).pods()))
                .toList();
        Question question = new Question(withClaims(view, leastHarmFirst), attempt.node(), attempt.claims());
        Explanation explanation = explainer.explain(question);
        isCutShort |= !explanation.complete();
        List<Way> ways = new ArrayList<>();
        if (explanation.outcome() instanceof Outcome.DoesNotFit refused) {
            explainer.withLessCapacity(question, refused).ifPresent(ways::add);
        }
        boolean less = !ways.isEmpty();
        explanation.ways().stream()
                .filter(way -> !way.kinds().contains(Kind.NODE))
                .filter(way -> !less || !way.kinds().contains(Kind.CAPACITY_REQUESTS))
                .filter(way -> explanation.ways().size() == 1 || !way.kinds().contains(Kind.COUNTERS))
                .forEach(ways::add);
        return ways.stream().flatMap(way -> remedies(way, attempt).stream()).toList();
    }

    /** Only a taint has two remedies: to remove or to tolerate it. */
    private List<Remedy> remedies(Way way, Attempt attempt) {
        String node = attempt.node().name();
        if (way.changes().size() == 1 && way.changes().get(0) instanceof Change.Tolerate one) {
            return List.of(
                    new Remedy(node, List.of(steps.repair(one, attempt))),
                    new Remedy(node, List.of(steps.tolerate(one, attempt))));
        }
        return List.of(new Remedy(
                node, way.changes().stream().map(one -> steps.of(one, attempt)).toList()));
    }
}
