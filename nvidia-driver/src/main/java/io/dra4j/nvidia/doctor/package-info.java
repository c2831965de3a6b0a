// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Finds what is wrong with NVIDIA's driver on the node: the checks of the command {@code doctor}.
 *
 * <p>Flow: the driver's options → NVML, files and processes of the node → findings.
 */
@NullMarked
package io.dra4j.nvidia.doctor;

import org.jspecify.annotations.NullMarked;
