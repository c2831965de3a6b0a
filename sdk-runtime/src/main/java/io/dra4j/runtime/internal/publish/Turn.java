// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.util.function.BooleanSupplier;

/**
 * The right to write slices.
 *
 * @param isLost returns whether another process may have it by now
 * @param end releases it
 */
public record Turn(BooleanSupplier isLost, Runnable end) {}
