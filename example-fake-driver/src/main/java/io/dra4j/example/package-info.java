// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The smallest complete DRA driver.
 *
 * <p>Flow: the SDK → here → no hardware at all.
 */
@NullMarked
package io.dra4j.example;

import org.jspecify.annotations.NullMarked;
