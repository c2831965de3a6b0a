// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Claims as a driver's users write them, and the devices that a scheduler allocates to them.
 *
 * <p>Flow: {@code driver.claims} → {@link io.dra4j.conformance.claims.ClaimTemplates} → {@link
 * io.dra4j.conformance.claims.Allotments}, with the published devices → an {@link
 * io.dra4j.conformance.claims.Allotment} for each claim that there is room for.
 */
@NullMarked
package io.dra4j.conformance.claims;

import org.jspecify.annotations.NullMarked;
