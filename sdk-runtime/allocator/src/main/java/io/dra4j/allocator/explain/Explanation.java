// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.Outcome;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An outcome, and the changes with which the claims would fit.
 *
 * @param ways to make the claims fit, the shortest first; each was tried
 * @param complete whether all ways with one or two kinds of obstacle were tried before the time limit
 */
public record Explanation(Outcome outcome, List<Way> ways, boolean complete) {

    public Set<Kind> kinds() {
        Set<Kind> kinds = EnumSet.noneOf(Kind.class);
        ways.forEach(way -> kinds.addAll(way.kinds()));
        return kinds;
    }

    /** Returns the way with the fewest changes; empty if removing two kinds of obstacle is not enough. */
    public Optional<Way> smallest() {
        return ways.stream().findFirst();
    }
}
