// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * How claims say that a GPU is to be shared: the opaque configurations of the Go driver.
 *
 * <p>Flow: a claim's configurations → here → {@code prepare}.
 */
@NullMarked
package io.dra4j.nvidia.sharing;

import org.jspecify.annotations.NullMarked;
