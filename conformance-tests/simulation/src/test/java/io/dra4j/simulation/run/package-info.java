// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Runs: the steps that a seed gives, the failures that come of them, and the fewest steps that show one.
 *
 * <p>Flow: a seed → plan and run → a report, by which the run is repeated.
 */
@NullMarked
package io.dra4j.simulation.run;

import org.jspecify.annotations.NullMarked;
