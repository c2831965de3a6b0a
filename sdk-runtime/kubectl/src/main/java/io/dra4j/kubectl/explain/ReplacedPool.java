// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.PoolObstacle;
import io.dra4j.allocator.model.Slice;
import java.util.List;

/**
 * A pool that has slices of a newer generation, none of them for a node.
 *
 * @param slices all slices of the pool
 */
record ReplacedPool(List<Slice> slices) {

    /** Returns whether that is the problem of a pool. */
    static boolean is(PoolObstacle obstacle) {
        return obstacle.problem().contains("newer generation");
    }

    long newest() {
        return slices.stream().mapToLong(Slice::generation).max().orElse(0);
    }

    List<Slice> replacing() {
        return slices.stream().filter(one -> one.generation() == newest()).toList();
    }

    /** Returns what to do on a node: a complete new generation no longer changes. */
    String remedy(String node) {
        long published = replacing().size();
        long wanted = replacing().get(0).sliceCount();
        if (published < wanted) {
            return "Restart the driver if this lasts longer than a minute: it has published %d of the %d ResourceSlices of generation %d, and needs only seconds to publish all"
                    .formatted(published, wanted, newest());
        }
        return "Restart the driver of node %s, or see its log there: generation %d is complete and has no devices of this node, so waiting does not help. Then delete the slices of older generations: `kubectl delete resourceslice %s`"
                .formatted(node, newest(), String.join(" ", older()));
    }

    private List<String> older() {
        return slices.stream()
                .filter(one -> one.generation() < newest())
                .map(Slice::name)
                .toList();
    }
}
