// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle.Kind;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A way to make claims fit.
 *
 * @param kinds the kinds of obstacle without which the claims fit
 * @param changes the changes of these kinds that together are enough
 */
public record Way(Set<Kind> kinds, List<Change> changes) {

    /** Copies the collections, with the kinds in their order. */
    public Way {
        kinds = Collections.unmodifiableSet(EnumSet.copyOf(kinds));
        changes = List.copyOf(changes);
    }
}
