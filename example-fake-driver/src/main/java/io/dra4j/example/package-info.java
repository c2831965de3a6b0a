// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** The smallest complete DRA driver. */
@NullMarked
package io.dra4j.example;

import org.jspecify.annotations.NullMarked;
