// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the cluster's slices equal to the inventory: a pure planner, a pure diff, one loop.
 *
 * <p>Flow: your provider's inventory → here → internal.cluster → the scheduler.
 */
@NullMarked
package io.dra4j.runtime.internal.publish;

import org.jspecify.annotations.NullMarked;
