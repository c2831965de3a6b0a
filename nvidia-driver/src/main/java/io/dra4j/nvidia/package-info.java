// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A DRA driver for NVIDIA GPUs and MIG devices: the program, its options, and the provider.
 *
 * <p>Flow: command line → here → {@code inventory}, {@code prepare}, {@code mig} and {@code health} → NVML.
 */
@NullMarked
package io.dra4j.nvidia;

import org.jspecify.annotations.NullMarked;
