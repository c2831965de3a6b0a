// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * NVML as safe Java: the GPUs of a node, and the creation of MIG devices. Only UUIDs and PCI addresses leave this
 * package, not pointers or handles.
 *
 * <p>Flow: {@code inventory}, {@code mig} and {@code health} → here → the library.
 */
@NullMarked
package io.dra4j.nvidia.nvml;

import org.jspecify.annotations.NullMarked;
