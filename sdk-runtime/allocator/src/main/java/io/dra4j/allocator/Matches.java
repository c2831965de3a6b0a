// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A cache of which devices can be selected, which does not change during a search. */
final class Matches {
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
