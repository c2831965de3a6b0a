// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Cluster;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.explain.Change;
import io.dra4j.allocator.explain.Explainer;
import io.dra4j.allocator.explain.Explanation;
import io.dra4j.allocator.explain.Question;
import io.dra4j.allocator.explain.Way;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the smallest changes that make claims fit, on the nodes that are nearest to it. */
final class Remedies {
    private static final int NODES = 3;
    private static final int MOST = 6;
    private static final int MOST_IDLE = 100;
    private static final Duration LIMIT = Duration.ofMillis(1000);

    private final Attempts attempts;
    private final ObstacleWords words;
    private final Explainer explainer;
    private boolean isCutShort;

    Remedies(Attempts attempts, ObstacleWords words) {
        this.attempts = attempts;
        this.words = words;
        this.explainer = new Explainer(attempts.correct(), InstantSource.system(), LIMIT);
    }

    /** Returns whether there was no time to try all changes. */
    boolean isCutShort() {
        return isCutShort;
    }

    /** Tries changes on the nearest node of each of the nearest groups. */
    List<Report.Changes> of(List<AlikeNodes> groups) {
        Map<List<String>, Report.Changes> all = new LinkedHashMap<>();
        idle(groups).ifPresent(one -> all.put(one.changes(), one));
        groups.stream()
                .map(AlikeNodes::nearest)
                .filter(one -> one.outcome() != null)
                .limit(NODES)
                .forEach(one -> addTo(all, one));
        return all.values().stream()
                .sorted(Comparator.comparing(one -> one.changes().size()))
                .limit(MOST)
                .toList();
    }

    /** A claim that no pod uses is the first to go. */
    private Optional<Report.Changes> idle(List<AlikeNodes> groups) {
        return groups.stream()
                .limit(NODES)
                .flatMap(group -> group.attempts().stream().limit(MOST_IDLE))
                .filter(one -> one.outcome() instanceof Outcome.DoesNotFit)
                .flatMap(one -> idle(one).stream())
                .findFirst();
    }

    private Optional<Report.Changes> idle(Attempt attempt) {
        Cluster view = attempts.view(attempt.node());
        return view.claims().stream()
                .filter(claim -> words.isIdle(claim.fullName()))
                .filter(claim -> fitsWithout(claim, view, attempt))
                .findFirst()
                .map(
                        claim ->
                                new Report.Changes(
                                        attempt.node().name(), List.of(release(claim.fullName()))));
    }

    private boolean fitsWithout(Claim claim, Cluster view, Attempt attempt) {
        Cluster without =
                new Cluster(
                        view.classes(),
                        view.slices(),
                        view.claims().stream().filter(one -> one != claim).toList(),
                        view.taintRules());
        return attempts.correct().allocate(without, attempt.node(), attempt.claims())
                instanceof Outcome.Allocated;
    }

    private String release(String claim) {
        return words.isIdle(claim)
                ? "delete claim %s, which no pod uses".formatted(claim)
                : "free the devices of " + words.holder(claim);
    }

    private void addTo(Map<List<String>, Report.Changes> all, Attempt attempt) {
        String node = attempt.node().name();
        Question question =
                new Question(attempts.view(attempt.node()), attempt.node(), attempt.claims());
        Explanation explanation = explainer.explain(question);
        isCutShort |= !explanation.complete();
        List<Way> ways = explanation.ways();
        for (Way way : ways) {
            boolean isVague = way.kinds().contains(Kind.COUNTERS) && ways.size() > 1;
            if (!isVague) {
                List<String> changes = new ArrayList<>();
                way.changes().forEach(one -> changes.add(text(one, attempt)));
                all.putIfAbsent(changes, new Report.Changes(node, changes));
            }
        }
    }

    private String text(Change change, Attempt attempt) {
        if (change instanceof Change.Release one) {
            return release(one.claim());
        }
        if (change instanceof Change.IgnoreCounters one) {
            return "delete claims that use other devices of pool " + one.pool();
        }
        if (change instanceof Change.Tolerate one) {
            return tolerate(one, attempt);
        }
        if (change instanceof Change.DropCapacity one) {
            return "request less of capacity %s, or none, in %s"
                    .formatted(one.capacity(), one.place());
        }
        if (change instanceof Change.DropRequestSelector one) {
            return words.nearestMiss(one.expression(), refused(attempt, one.place()).keySet())
                    .map(
                            miss ->
                                    "relax selector #%d of %s: %s"
                                            .formatted(one.index(), one.place(), miss))
                    .orElse(one.text());
        }
        return change.text();
    }

    /** A taint has a cause; to remove that is better than to tolerate it. */
    private String tolerate(Change.Tolerate change, Attempt attempt) {
        List<DeviceId> tainted =
                refused(attempt, change.place()).entrySet().stream()
                        .filter(
                                one ->
                                        one.getValue() instanceof Obstacle.Tainted found
                                                && found.taint().equals(change.taint()))
                        .map(Map.Entry::getKey)
                        .toList();
        String cause =
                tainted.stream()
                        .flatMap(one -> words.rule(one, change.taint()).stream())
                        .findFirst()
                        .map("delete DeviceTaintRule %s once it has served"::formatted)
                        .orElse("repair " + Names.some(tainted.stream().map(words::name).toList()));
        return "%s, or tolerate taint %s in %s".formatted(cause, change.taint(), change.place());
    }

    private static Map<DeviceId, Obstacle> refused(Attempt attempt, Change.Place place) {
        return attempt.outcome() instanceof Outcome.DoesNotFit refused
                ? refused.requests().stream()
                        .filter(one -> one.claim().equals(place.claim()))
                        .filter(one -> one.request().equals(place.request()))
                        .findFirst()
                        .map(RequestObstacles::devices)
                        .orElse(Map.of())
                : Map.of();
    }
}
