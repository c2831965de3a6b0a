// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Prepares each claim exactly once, across restarts and reboots.
 *
 * <p>Flow: kubelet → here → checkpoint, cdi, cluster and the provider.
 */
@NullMarked
package io.dra4j.runtime.internal.claim;

import org.jspecify.annotations.NullMarked;
