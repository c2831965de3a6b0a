// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The only package that uses JNA: the node's libraries by their paths, and NVML's structs.
 *
 * <p>Flow: {@code nvml} and {@code fabric} → here → the libraries.
 */
@NullMarked
package io.dra4j.nvidia.nvml.jna;

import org.jspecify.annotations.NullMarked;
