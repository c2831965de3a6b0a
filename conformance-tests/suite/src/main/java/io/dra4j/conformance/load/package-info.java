// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The times that a driver takes, as numbers: only the limits of the kubelet are asserted.
 *
 * <p>Flow: the settings → {@link io.dra4j.conformance.load.LoadRun} on test contexts → the numbers
 * of each driver → a table and JSON.
 */
@NullMarked
package io.dra4j.conformance.load;

import org.jspecify.annotations.NullMarked;
