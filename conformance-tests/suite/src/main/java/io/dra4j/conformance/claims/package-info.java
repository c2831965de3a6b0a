// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Claims as a driver's users write them, and what a scheduler allocates to them: the small part of
 * it that a suite with one node needs.
 *
 * <p>Flow: {@code driver.claims} → {@link io.dra4j.conformance.claims.ClaimTemplates} → {@link
 * io.dra4j.conformance.claims.Allocator}, with the published devices → an {@link
 * io.dra4j.conformance.claims.Allotment} for each claim that there is room for.
 */
@NullMarked
package io.dra4j.conformance.claims;

import org.jspecify.annotations.NullMarked;
