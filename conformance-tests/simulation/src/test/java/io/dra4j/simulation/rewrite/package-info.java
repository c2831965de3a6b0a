// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Loads the runtime's classes so that they wait, and read the clock, through the simulation.
 *
 * <p>Flow: a class of the runtime → {@code Rewriter}, by {@code replacements.txt} → the hooks of {@code schedule}.
 */
@NullMarked
package io.dra4j.simulation.rewrite;

import org.jspecify.annotations.NullMarked;
