// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.NodeSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The devices that a claim gets.
 *
 * @param claim its namespace and name
 * @param results in the order of its requests
 * @param nodes from which all its devices can be used; null for all nodes
 */
public record Allocation(
        String claim,
        List<AllocatedDevice> results,
        @Nullable NodeSelector nodes) {}
