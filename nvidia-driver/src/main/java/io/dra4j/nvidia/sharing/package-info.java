// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The opaque configurations of NVIDIA's driver, and the sharing that they ask for.
 *
 * <p>Flow: a claim's configurations → here → {@code nvidia-smi}, and edits of containers.
 */
@NullMarked
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.NullMarked;
