// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The feature gates of NVIDIA's driver: each has a handling here.
 *
 * <p>Flow: command line, environment → here → {@code install}, {@code sharing}.
 */
@NullMarked
package io.dra4j.nvidia.gates;

import org.jspecify.annotations.NullMarked;
