// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated node: the environment of a driver's process, and the interface to it for others.
 *
 * <p>Flow: a plan's step → {@code SimulatedNode} → processes of the driver, on a disk and with an API server.
 */
@NullMarked
package io.dra4j.simulation.node;

import org.jspecify.annotations.NullMarked;
