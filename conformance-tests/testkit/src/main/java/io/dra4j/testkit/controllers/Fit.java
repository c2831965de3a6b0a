// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The answer to the question whether claims fit on a node. */
sealed interface Fit {

    /**
     * They do.
     *
     * @param allocations what is to be written to each of them, in their order
     * @param score how good the alternatives are that were chosen; more is better
     */
    record Fits(List<ObjectNode> allocations, int score) implements Fit {}

    /**
     * They do not.
     *
     * @param details what stands in the way of each request
     */
    record DoesNot(String reason, String details) implements Fit {}

    /** The attempt to place the pod failed, on whichever node. */
    record Failed(String error) implements Fit {}
}
