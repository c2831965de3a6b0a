// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Records which hardware each published name refers to, and withholds every name that refers to other hardware.
 *
 * <p>Flow: publish → here → the file of pins; claim → here.
 */
@NullMarked
package io.dra4j.runtime.internal.pins;

import org.jspecify.annotations.NullMarked;
