// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A driver's surroundings, simulated: hardware, kubelet, scheduler, administrator, and the invariants that hold for all
 * of them.
 *
 * <p>Flow: a plan's steps → {@code ClaimScheduler} → {@code Kubelet} → the driver → {@code Hardware} → {@code Invariants}.
 */
@NullMarked
package io.dra4j.simulation.world;

import org.jspecify.annotations.NullMarked;
