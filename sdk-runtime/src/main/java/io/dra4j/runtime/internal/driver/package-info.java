// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the parts of a driver together, from its start to its end.
 *
 * <p>Flow: runtime.DraDriver → here → kubelet, publish and claim.
 */
@NullMarked
package io.dra4j.runtime.internal.driver;

import org.jspecify.annotations.NullMarked;
