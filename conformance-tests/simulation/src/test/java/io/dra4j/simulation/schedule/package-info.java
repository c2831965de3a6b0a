// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * One thread at a time, in virtual time: a seed decides which thread runs next, and when.
 *
 * <p>Flow: rewritten code and the world → {@code Hooks} and {@code Simulation} → the next thread → {@code Trace}.
 */
@NullMarked
package io.dra4j.simulation.schedule;

import org.jspecify.annotations.NullMarked;
