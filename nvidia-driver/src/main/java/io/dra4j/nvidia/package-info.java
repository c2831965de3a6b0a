// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * NVIDIA GPUs as devices of a DRA driver.
 *
 * <p>Flow: the settings of the node → here → NVML. So far it finds the driver's library and reads
 * its version; it opens no library, publishes no device and prepares no claim, and has no main.
 */
@NullMarked
package io.dra4j.nvidia;

import org.jspecify.annotations.NullMarked;
