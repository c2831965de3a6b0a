// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * What NVML says becomes devices of a pool: pure, but for the look into sysfs.
 *
 * <p>Flow: {@code nvml} → here → the slices, and {@code prepare}, which asks what a name stands
 * for.
 */
@NullMarked
package io.dra4j.nvidia.inventory;

import org.jspecify.annotations.NullMarked;
