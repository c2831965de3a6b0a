// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Runs: the steps of a seed, the failures that they cause, and the fewest steps that show a failure.
 *
 * <p>Flow: a seed → plan and run → a report, from which the run can be repeated.
 */
@NullMarked
package io.dra4j.simulation.run;

import org.jspecify.annotations.NullMarked;
