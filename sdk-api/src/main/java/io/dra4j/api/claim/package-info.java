// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * What a claim asked of a driver, what the driver answered, and what it still holds.
 *
 * <p>Flow: the scheduler's allocation → here → your provider → the kubelet.
 */
@NullMarked
package io.dra4j.api.claim;

import org.jspecify.annotations.NullMarked;
