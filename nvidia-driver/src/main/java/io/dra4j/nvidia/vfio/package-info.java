// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * GPUs for virtual machines: taken from NVIDIA's driver for a claim, and returned after it.
 *
 * <p>Flow: claims, {@code pci} → here → sysfs, and what containers get.
 */
@NullMarked
package io.dra4j.nvidia.vfio;

import org.jspecify.annotations.NullMarked;
