// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * NVML's functions and structs, as JNA calls them; nobody else knows JNA.
 *
 * <p>Flow: {@code nvml} → here → {@code libnvidia-ml.so.1}. Handles are numbers here, and good for
 * as long as the library stays initialized.
 */
@NullMarked
package io.dra4j.nvidia.nvml.jna;

import org.jspecify.annotations.NullMarked;
