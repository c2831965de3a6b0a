// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Code with known races, rewritten by tests of the simulation itself.
 *
 * <p>Flow: a test of {@code schedule} → {@code Counters} → the hooks of {@code schedule}.
 */
@NullMarked
package io.dra4j.simulation.samples;

import org.jspecify.annotations.NullMarked;
