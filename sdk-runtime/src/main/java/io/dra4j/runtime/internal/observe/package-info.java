// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reports the driver's state for tools: logs, metrics, events and probes.
 *
 * <p>Flow: every other package → here → the log. It depends on no other package of dra4j except the one that serves its
 * pages.
 */
@NullMarked
package io.dra4j.runtime.internal.observe;

import org.jspecify.annotations.NullMarked;
