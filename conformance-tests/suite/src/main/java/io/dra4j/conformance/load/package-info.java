// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The times that a driver takes: numbers, and nothing asserted but the limits of the kubelet.
 *
 * <p>Flow: the settings → {@link io.dra4j.conformance.load.LoadRun} on test contexts → the numbers
 * of each driver → a table and JSON.
 */
@NullMarked
package io.dra4j.conformance.load;

import org.jspecify.annotations.NullMarked;
