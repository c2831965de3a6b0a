// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The devices of a pool, from NVML's readings; pure, except for reading sysfs.
 *
 * <p>Flow: {@code nvml} → here → the slices, and {@code prepare}, which resolves device names.
 */
@NullMarked
package io.dra4j.nvidia.inventory;

import org.jspecify.annotations.NullMarked;
