// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import java.util.List;

/**
 * A question to an allocator: do these claims fit on the node?
 *
 * @param claims of one pod, in its order, that are not allocated yet
 */
public record Question(ClusterState cluster, Node node, List<Claim> claims) {}
