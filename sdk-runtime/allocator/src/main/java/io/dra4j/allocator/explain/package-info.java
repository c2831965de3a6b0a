// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Explanations of claims that do not fit: which obstacles exist, and what would have to change.
 *
 * <p>Flow: a {@code Question} → {@code Explainer}, which allocates again without some obstacles → an {@code
 * Explanation}. Pure, like the allocator.
 */
@NullMarked
package io.dra4j.allocator.explain;

import org.jspecify.annotations.NullMarked;
