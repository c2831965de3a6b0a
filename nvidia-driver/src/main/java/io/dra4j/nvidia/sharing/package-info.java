// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The opaque configurations of NVIDIA's driver, some of which request a strategy of sharing.
 *
 * <p>Flow: a claim's configurations → here → {@code prepare}.
 */
@NullMarked
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.NullMarked;
