// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A validating admission webhook: refuses objects that would fail later.
 *
 * <p>Flow: API server → http → here → the check of prepare → the answer.
 */
@NullMarked
package io.dra4j.runtime.internal.admission;

import org.jspecify.annotations.NullMarked;
