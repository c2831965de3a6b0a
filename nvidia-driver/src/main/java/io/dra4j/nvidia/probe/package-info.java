// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code probe}: prints NVML's readings and the devices that would be published.
 *
 * <p>Flow: command line → here → NVML and {@code inventory} → standard output.
 */
@NullMarked
package io.dra4j.nvidia.probe;

import org.jspecify.annotations.NullMarked;
