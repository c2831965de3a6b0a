// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * CEL expressions of device selectors, compiled and evaluated in the environment of a Kubernetes release.
 *
 * <p>Flow: an expression → {@code DeviceExpressions}, which says what is wrong with it, or {@code DeviceSelector},
 * which says whether a device matches. CEL is loaded only with the first expression.
 */
@NullMarked
package io.dra4j.allocator.cel;

import org.jspecify.annotations.NullMarked;
