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
 * @param outcome of the question as it was
 * @param ways to make the claims fit, the shortest first; each was tried
 * @param complete whether all ways with one kind of obstacle, or with two, were tried: not so if
 *     the time limit came first
 */
public record Explanation(Outcome outcome, List<Way> ways, boolean complete) {

    /** The kinds of obstacle in the way, those of all ways. */
    public Set<Kind> kinds() {
        Set<Kind> kinds = EnumSet.noneOf(Kind.class);
        ways.forEach(way -> kinds.addAll(way.kinds()));
        return kinds;
    }

    /** The way with the fewest changes; none if two kinds of obstacle are not all there are. */
    public Optional<Way> smallest() {
        return ways.stream().findFirst();
    }
}
