// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements and interventions that several rules share: slices as a scheduler sees them, calls
 * that are held back, foreign files, restarts and reboots.
 *
 * <p>Flow: a rule → a probe acts on the {@link io.dra4j.conformance.context.TestContext} → the rule
 * compares the result with the requirement.
 */
@NullMarked
package io.dra4j.conformance.probes;

import org.jspecify.annotations.NullMarked;
