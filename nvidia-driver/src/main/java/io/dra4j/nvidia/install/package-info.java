// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The NVIDIA driver's installation on the node, and the options that locate it.
 *
 * <p>Flow: command line → here → NVML's file, and the roots of {@code prepare}.
 */
@NullMarked
package io.dra4j.nvidia.install;

import org.jspecify.annotations.NullMarked;
