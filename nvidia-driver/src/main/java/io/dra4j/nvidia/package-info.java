// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** The DRA driver for NVIDIA GPUs. */
@NullMarked
package io.dra4j.nvidia;

import org.jspecify.annotations.NullMarked;
