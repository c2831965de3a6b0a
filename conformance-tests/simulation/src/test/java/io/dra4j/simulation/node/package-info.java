// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated node: what a driver's process finds there, and what others have of it.
 *
 * <p>Flow: a plan's step → {@code SimulatedNode} → processes of the driver, on a disk and with an API server.
 */
@NullMarked
package io.dra4j.simulation.node;

import org.jspecify.annotations.NullMarked;
