// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The checkpoint of NVIDIA's own driver, which is written in Go: read to take over its claims, and written to return
 * them.
 *
 * <p>Flow: {@code checkpoint.json} → here → the driver's take-over, and back.
 */
@NullMarked
package io.dra4j.nvidia.takeover;

import org.jspecify.annotations.NullMarked;
