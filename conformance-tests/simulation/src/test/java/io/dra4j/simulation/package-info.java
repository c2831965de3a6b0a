// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Runs of the driver's own code in a simulated cluster, each repeated by its seed.
 *
 * <p>Flow: a seed → {@code run} → {@code world} and {@code node} → the runtime, rewritten by {@code rewrite} → {@code disk} and {@code api}.
 */
@NullMarked
package io.dra4j.simulation;

import org.jspecify.annotations.NullMarked;
