// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.rules.ClaimLimits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tries devices for one request after another, depth first; the first solution counts.
 *
 * <p>Within a request, devices are taken only in their order, so that no combination is tried twice. Across requests
 * and claims every combination is tried: a dead end backtracks to the device that was taken last.
 */
record Search(
        Behaviour behaviour,
        List<List<List<Plan>>> claims,
        List<Candidate> candidates,
        Matches matches,
        Picks picks,
        NodeDeadline deadline,
        Trace trace) {
    private enum Step {
        FITS,
        DOES_NOT_FIT,
        /** The request would not fit even with other devices for the earlier requests. */
        TOO_MANY_RESULTS
    }

    /** Returns whether all claims fit; if so, the picks have their devices. */
    boolean fits() {
        return request(0, 0) == Step.FITS;
    }

    private Step request(int claim, int request) {
        deadline.check();
        if (claim == claims.size()) {
            return Step.FITS;
        }
        if (request == claims.get(claim).size()) {
            Step next = request(claim + 1, 0);
            return next == Step.TOO_MANY_RESULTS ? Step.DOES_NOT_FIT : next;
        }
        boolean allTooMany = true;
        for (Plan plan : claims.get(claim).get(request)) {
            Step step = devices(plan, request, 0, 0);
            if (step == Step.FITS) {
                return step;
            }
            allTooMany &= step == Step.TOO_MANY_RESULTS;
        }
        return allTooMany ? Step.TOO_MANY_RESULTS : Step.DOES_NOT_FIT;
    }

    /** Takes the remaining devices of a request, and continues with the next request. */
    private Step devices(Plan plan, int request, int count, int from) {
        deadline.check();
        trace.reached(plan, count);
        if (plan.isAll() && plan.all().isEmpty()) {
            return Step.DOES_NOT_FIT;
        }
        if (count >= plan.count()) {
            return request(plan.claimIndex(), request + 1);
        }
        if (isTooMany(picks.count(plan.claimIndex()), plan.count() - count)) {
            return Step.TOO_MANY_RESULTS;
        }
        return plan.isAll() ? takeNext(plan, request, count) : takeAny(plan, request, count, from);
    }

    private boolean isTooMany(int had, long more) {
        return behaviour.has(SchedulerBug.COUNT_OVERFLOW)
                ? had + more > ClaimLimits.RESULTS
                : more > ClaimLimits.RESULTS - had;
    }

    /** Takes the next device of a request for all devices, which leaves no choice. */
    private Step takeNext(Plan plan, int request, int count) {
        Candidate candidate = plan.all().get(count);
        Obstacle obstacle = picks.take(plan, candidate);
        if (obstacle instanceof Obstacle.NotTogether) {
            throw new AttemptException("%scannot add device %s because a claim constraint would not be satisfied"
                    .formatted(plan.subject(), candidate.id()));
        }
        if (obstacle != null) {
            trace.refused(plan, candidate, obstacle);
            return Step.DOES_NOT_FIT;
        }
        Step step = devices(plan, request, count + 1, 0);
        if (step != Step.FITS) {
            picks.giveBack();
        }
        return step;
    }

    private Step takeAny(Plan plan, int request, int count, int from) {
        for (int i = from; i < candidates.size(); i++) {
            Candidate candidate = candidates.get(i);
            Obstacle obstacle = take(plan, candidate);
            if (obstacle != null) {
                trace.refused(plan, candidate, obstacle);
                continue;
            }
            Step step = devices(plan, request, count + 1, next(candidate));
            if (step == Step.FITS) {
                return step;
            }
            picks.giveBack();
            if (step == Step.TOO_MANY_RESULTS) {
                return step;
            }
        }
        return Step.DOES_NOT_FIT;
    }

    private int next(Candidate candidate) {
        boolean again = candidate.device().sharing() && behaviour.has(Trait.SHARES_IN_ONE_REQUEST);
        return again ? candidate.index() : candidate.index() + 1;
    }

    private @Nullable Obstacle take(Plan plan, Candidate candidate) {
        Pool pool = candidate.pool();
        if (pool.isInvalid()) {
            throw new AttemptException(
                    "pool %s is invalid: %s".formatted(pool.id().pool(), pool.problem()));
        }
        Obstacle obstacle = picks.checkUse(plan, candidate);
        if (obstacle == null) {
            obstacle = matches.check(plan, candidate);
        }
        if (obstacle == null) {
            obstacle = picks.checkCapacity(plan, candidate);
        }
        return obstacle == null ? picks.take(plan, candidate) : obstacle;
    }

    /** A cache of which devices can be selected, which does not change during a search. */
    static final class Matches {
        private final Selection selection;
        private final Map<Integer, List<@Nullable Optional<Obstacle>>> known = new HashMap<>();
        private final int candidates;

        Matches(Selection selection, int candidates) {
            this.selection = selection;
            this.candidates = candidates;
        }

        @Nullable
        Obstacle check(Plan plan, Candidate candidate) {
            List<@Nullable Optional<Obstacle>> ofPlan = known.computeIfAbsent(plan.index(), index -> empty());
            Optional<Obstacle> result = ofPlan.get(candidate.index());
            if (result == null) {
                result = Optional.ofNullable(selection.check(plan, candidate));
                ofPlan.set(candidate.index(), result);
            }
            return result.orElse(null);
        }

        private List<@Nullable Optional<Obstacle>> empty() {
            return new ArrayList<>(java.util.Collections.nCopies(candidates, null));
        }
    }
}
