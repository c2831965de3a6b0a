// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The one contract that a driver implements.
 *
 * <p>Flow: the runtime → here → your hardware.
 */
@NullMarked
package io.dra4j.api;

import org.jspecify.annotations.NullMarked;
