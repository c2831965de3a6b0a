// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Creates threads for bursts of work, which end soon after it.
 *
 * <p>Flow: a task of any package → here → a thread. A leaf: it depends on no other package of dra4j.
 */
@NullMarked
package io.dra4j.runtime.internal.thread;

import org.jspecify.annotations.NullMarked;
