// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Commands that print what would be published: {@code probe} on a node, {@code template} for boards.
 *
 * <p>Flow: command line → here → NVML, or a file of a board → {@code inventory} → standard output.
 */
@NullMarked
package io.dra4j.nvidia.probe;

import org.jspecify.annotations.NullMarked;
