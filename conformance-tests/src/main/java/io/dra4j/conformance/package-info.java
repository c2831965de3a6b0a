// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** The doors of the conformance suite. */
@NullMarked
package io.dra4j.conformance;

import org.jspecify.annotations.NullMarked;
