// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The time slices of whole GPUs.
 *
 * <p>Flow: {@code sharing} → here → {@code nvidia-smi} of {@code install}.
 */
@NullMarked
package io.dra4j.nvidia.slicing;

import org.jspecify.annotations.NullMarked;
