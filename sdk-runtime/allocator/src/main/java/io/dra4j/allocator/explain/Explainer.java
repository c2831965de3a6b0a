// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.explain.Change.Place;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.RequestPolicy;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.OwnNames;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Explains why claims do not fit, by allocating them again without obstacles.
 *
 * <p>It first removes obstacles of one kind, then of two kinds if one is not enough. Of the removals that help, it
 * keeps a smallest set. An attempt takes no longer than a scheduler's, and none starts after the time limit.
 */
public record Explainer(Allocator allocator, InstantSource clock, Duration limit) {
    /** Allocates, and explains the outcome if the claims do not fit. */
    public Explanation explain(Question question) {
        Outcome outcome = allocate(question);
        if (outcome instanceof Outcome.Allocated) {
            return new Explanation(outcome, List.of(), true);
        }
        Run run = new Run(question, clock.instant().plus(limit));
        List<Way> ways = run.ways();
        return new Explanation(outcome, ways, !run.isOver());
    }

    /**
     * Finds the largest amount of a capacity that fits, below the requested one.
     *
     * <p>It tries the amounts that devices have left, or that their policies allow.
     */
    public Optional<Way> withLessCapacity(Question question, Outcome.DoesNotFit refused) {
        Run run = new Run(question, clock.instant().plus(limit));
        return new SmallerAmounts(question, refused)
                .largestFirst().stream()
                        .filter(one -> run.fits(List.of(one)))
                        .findFirst()
                        .map(one -> new Way(EnumSet.of(one.kind()), List.of(one)));
    }

    private Outcome allocate(Question question) {
        return allocator.allocate(question.cluster(), question.node(), question.claims());
    }

    /** The attempts for one question. */
    private final class Run {
        private final Question question;
        private final Map<Kind, List<Change>> changes = new EnumMap<>(Kind.class);
        private final Instant end;

        Run(Question question, Instant end) {
            this.question = question;
            this.end = end;
        }

        /** Returns the ways with one kind of obstacle or, failing that, with two; the shortest first. */
        List<Way> ways() {
            List<Way> ways = new ArrayList<>();
            for (Kind kind : Kind.values()) {
                addTo(ways, EnumSet.of(kind));
            }
            if (ways.isEmpty()) {
                for (Kind first : Kind.values()) {
                    for (Kind second : Kind.values()) {
                        if (first.compareTo(second) < 0) {
                            addTo(ways, EnumSet.of(first, second));
                        }
                    }
                }
            }
            ways.sort(Comparator.comparing(way -> way.changes().size()));
            return List.copyOf(ways);
        }

        private void addTo(List<Way> ways, Set<Kind> kinds) {
            List<List<Change>> byKind = kinds.stream()
                    .map(kind -> changes.computeIfAbsent(kind, new Changes(question)::of))
                    .toList();
            if (byKind.stream().noneMatch(List::isEmpty)) {
                List<Change> all = byKind.stream().flatMap(List::stream).toList();
                if (fits(all)) {
                    ways.add(new Way(kinds, smallest(all)));
                }
            }
        }

        /** Keeps the changes that are needed, or all of them if fewer mislead the search. */
        private List<Change> smallest(List<Change> changes) {
            List<Change> needed = needed(List.of(), changes, false);
            return larger(fits(needed) ? needed : changes);
        }

        /** Requests as many devices as fit where a change requests fewer. */
        private List<Change> larger(List<Change> changes) {
            List<Change> larger = new ArrayList<>(changes);
            for (int i = 0; i < larger.size(); i++) {
                if (larger.get(i) instanceof Change.RequestFewer fewer) {
                    larger.set(i, most(larger, i, fewer.place()));
                }
            }
            return larger;
        }

        private Change most(List<Change> changes, int index, Place place) {
            List<Change> others = new ArrayList<>(changes);
            long fitting = 1;
            long tooMany = Changes.count(question, place);
            while (tooMany - fitting > 1) {
                long middle = fitting + (tooMany - fitting) / 2;
                others.set(index, new Change.RequestFewer(place, middle));
                if (fits(others)) {
                    fitting = middle;
                } else {
                    tooMany = middle;
                }
            }
            return new Change.RequestFewer(place, fitting);
        }

        /**
         * Returns the changes that are needed in addition to those made, trying halves first.
         *
         * @param tried whether more changes are made than before
         */
        private List<Change> needed(List<Change> made, List<Change> changes, boolean tried) {
            if (tried && fits(made)) {
                return List.of();
            }
            if (changes.size() <= 1) {
                return changes;
            }
            List<Change> left = changes.subList(0, changes.size() / 2);
            List<Change> right = changes.subList(changes.size() / 2, changes.size());
            List<Change> ofRight = needed(join(made, left), right, true);
            List<Change> ofLeft = needed(join(made, ofRight), left, !ofRight.isEmpty());
            return join(ofLeft, ofRight);
        }

        private static List<Change> join(List<Change> some, List<Change> others) {
            return Stream.concat(some.stream(), others.stream()).toList();
        }

        boolean isOver() {
            return clock.instant().isAfter(end);
        }

        private boolean fits(List<Change> changes) {
            return !changes.isEmpty()
                    && !isOver()
                    && allocate(ChangedQuestion.of(question, changes)) instanceof Outcome.Allocated;
        }
    }

    /** Lists smaller amounts of capacities that devices have left, or whose policies allow them. */
    private record SmallerAmounts(Question question, Outcome.DoesNotFit refused) {

        List<Change.RequestLess> largestFirst() {
            List<Change.RequestLess> all = new ArrayList<>();
            for (RequestObstacles one : refused.requests()) {
                Place place = new Place(one.claim(), one.request());
                one.devices().forEach((id, obstacle) -> add(all, place, id, obstacle));
            }
            return all.stream()
                    .distinct()
                    .sorted(Comparator.comparing(Change.RequestLess::amount).reversed())
                    .toList();
        }

        private void add(List<Change.RequestLess> all, Place place, DeviceId id, Obstacle obstacle) {
            if (obstacle instanceof Obstacle.CapacityShort one && one.requested()) {
                amounts(id, one.capacity(), one.left())
                        .forEach(to -> all.add(new Change.RequestLess(place, one.capacity(), to)));
            }
            if (obstacle instanceof Obstacle.AmountRefused one) {
                amounts(id, one.capacity(), one.amount())
                        .forEach(to -> all.add(new Change.RequestLess(place, one.capacity(), to)));
            }
        }

        /** Returns the limit itself, and the largest amount up to it that the device's policy allows. */
        private List<Quantity> amounts(DeviceId id, String capacity, Quantity limit) {
            List<Quantity> amounts = new ArrayList<>(List.of(limit));
            question.cluster().slices(new PoolId(id.driver(), id.pool())).stream()
                    .map(Slice::devices)
                    .flatMap(List::stream)
                    .filter(device -> device.name().equals(id.device()))
                    .flatMap(device -> new OwnNames(id.driver()).find(device.capacity(), capacity).stream())
                    .filter(one -> one.policy() != null)
                    .forEach(one -> amounts.addAll(allowed(one.policy(), limit)));
            return amounts.stream().filter(one -> one.value().signum() > 0).toList();
        }

        private static List<Quantity> allowed(RequestPolicy policy, Quantity limit) {
            RequestPolicy.Range range = policy.validRange();
            if (range == null) {
                return policy.validValues().stream()
                        .filter(one -> one.compareTo(limit) <= 0)
                        .toList();
            }
            Quantity most = range.max() == null || range.max().compareTo(limit) > 0 ? limit : range.max();
            if (range.step() == null) {
                return List.of(most);
            }
            Quantity least = range.min() == null ? Quantity.ZERO : range.min();
            BigDecimal steps = most.value()
                    .subtract(least.value())
                    .divideToIntegralValue(range.step().value())
                    .multiply(range.step().value());
            return List.of(most.withValue(least.value().add(steps)));
        }
    }
}
