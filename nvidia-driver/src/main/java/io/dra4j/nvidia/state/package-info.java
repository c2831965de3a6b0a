// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The recorded state of a claim: MIG devices, sharing and lent GPUs, each in its own format.
 *
 * <p>Flow: {@code mig}, {@code sharing}, {@code vfio} → here → the runtime's journal, and back after a crash.
 */
@NullMarked
package io.dra4j.nvidia.state;

import org.jspecify.annotations.NullMarked;
