// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Remember claims durably.
 *
 * <p>Flow: claim → here → the journal file.
 */
@NullMarked
package io.dra4j.runtime.internal.checkpoint;

import org.jspecify.annotations.NullMarked;
