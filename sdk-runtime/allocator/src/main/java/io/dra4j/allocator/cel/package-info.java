// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * CEL of device selectors: Kubernetes' environment by release, compiled and evaluated.
 *
 * <p>Flow: an expression → {@code DeviceExpressions}, which says what is wrong with it, or {@code
 * DeviceSelector}, which says whether a device matches. Nothing is loaded before the first of them.
 */
@NullMarked
package io.dra4j.allocator.cel;

import org.jspecify.annotations.NullMarked;
