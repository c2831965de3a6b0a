// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads an allocation: its devices, their configurations, and the claims that already hold them. Pure.
 *
 * <p>Flow: claim → here → checkpoint's and cluster's values.
 */
@NullMarked
package io.dra4j.runtime.internal.claim.allocation;

import org.jspecify.annotations.NullMarked;
