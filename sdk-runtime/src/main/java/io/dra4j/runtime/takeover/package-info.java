// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Takes over the claims of another driver of the same name, and hands them back.
 *
 * <p>Flow: your program and internal.claim → here → checkpoint, cdi.
 */
@NullMarked
package io.dra4j.runtime.takeover;

import org.jspecify.annotations.NullMarked;
