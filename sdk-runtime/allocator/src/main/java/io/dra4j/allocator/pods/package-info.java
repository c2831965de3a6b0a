// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the devices that a pod requests without naming a claim.
 *
 * <p>Flow: a pod's containers → requests of the claim that a scheduler creates for them.
 */
@NullMarked
package io.dra4j.allocator.pods;

import org.jspecify.annotations.NullMarked;
