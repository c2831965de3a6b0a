// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.PoolId;

/**
 * A pool whose devices were not considered.
 *
 * @param problem why, as a part of a sentence
 */
public record PoolObstacle(PoolId pool, String problem) {}
