// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Claims: as allocated to a driver, as prepared by it, and as held on the node.
 *
 * <p>Flow: the scheduler's allocation → here → your provider → the kubelet.
 */
@NullMarked
package io.dra4j.api.claim;

import org.jspecify.annotations.NullMarked;
