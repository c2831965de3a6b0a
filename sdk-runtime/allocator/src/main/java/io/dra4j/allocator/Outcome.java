// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import java.util.List;

/** The result of an attempt to allocate claims on a node. */
public sealed interface Outcome {

    /** All claims fit; there is one allocation for each, in their order. */
    record Allocated(List<Allocation> allocations) implements Outcome {}

    /**
     * Not all claims fit on this node.
     *
     * @param message the scheduler's
     * @param requests the requests that were tried, in their order
     * @param pools the pools whose devices were not tried, except those of other nodes
     * @param poolsOfOtherNodes their number
     */
    record DoesNotFit(String message, List<RequestObstacles> requests, List<PoolObstacle> pools, int poolsOfOtherNodes)
            implements Outcome {}

    /**
     * The attempt ended for all nodes.
     *
     * @param message the scheduler's
     */
    record Failed(String message) implements Outcome {}
}
