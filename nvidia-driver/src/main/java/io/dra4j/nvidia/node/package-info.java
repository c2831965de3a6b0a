// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Finds everything that NVIDIA's driver has on the node: libraries, programs, configuration, firmware, device nodes,
 * and the kernel module.
 *
 * <p>Flow: the options of {@code install} → here → NVML's file, and the files of {@code prepare}.
 */
@NullMarked
package io.dra4j.nvidia.node;

import org.jspecify.annotations.NullMarked;
