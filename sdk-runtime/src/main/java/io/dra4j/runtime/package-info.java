// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Assembles and runs a driver.
 *
 * <p>Flow: your main → here → kubelet, publish and claim.
 */
@NullMarked
package io.dra4j.runtime;

import org.jspecify.annotations.NullMarked;
