// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The sharing of GPUs and MIG devices by MPS: a control daemon for each group of a claim's devices.
 *
 * <p>Flow: {@code sharing} → here → {@code nvidia-smi}, {@code nvidia-cuda-mps-control}.
 */
@NullMarked
package io.dra4j.nvidia.mps;

import org.jspecify.annotations.NullMarked;
