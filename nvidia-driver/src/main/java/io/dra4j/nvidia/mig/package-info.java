// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * MIG devices on demand: created when a claim is prepared, destroyed when it is unprepared; each
 * step on the hardware is recorded before it is done.
 *
 * <p>Flow: {@code NvidiaDeviceProvider} → here → {@code nvml}.
 */
@NullMarked
package io.dra4j.nvidia.mig;

import org.jspecify.annotations.NullMarked;
