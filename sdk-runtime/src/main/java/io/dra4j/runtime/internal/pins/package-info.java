// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Record which hardware each published name means, and publish no name that means other hardware.
 *
 * <p>Flow: publish → here → the file of pins; claim → here.
 */
@NullMarked
package io.dra4j.runtime.internal.pins;

import org.jspecify.annotations.NullMarked;
