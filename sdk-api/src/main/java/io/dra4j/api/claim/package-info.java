// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** What was asked of a driver, and what it answered. */
@NullMarked
package io.dra4j.api.claim;

import org.jspecify.annotations.NullMarked;
