// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Code of a simulated process, rewritten on loading like the runtime.
 *
 * <p>Flow: {@code SimulatedNode} → {@code DriverProgram} → the runtime → {@code SimulatedPlugin} → the kubelet.
 */
@NullMarked
package io.dra4j.simulation.inside;

import org.jspecify.annotations.NullMarked;
