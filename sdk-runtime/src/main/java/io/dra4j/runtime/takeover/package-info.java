// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Take over the claims of another driver of the same name, and hand them back.
 *
 * <p>Flow: your program and internal.claim → here → checkpoint, cdi.
 */
@NullMarked
package io.dra4j.runtime.takeover;

import org.jspecify.annotations.NullMarked;
