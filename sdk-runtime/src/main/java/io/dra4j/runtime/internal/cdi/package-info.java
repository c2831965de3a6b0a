// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Writes, repairs and removes CDI specs.
 *
 * <p>Flow: claim → here → the CDI directory → the container runtime.
 */
@NullMarked
package io.dra4j.runtime.internal.cdi;

import org.jspecify.annotations.NullMarked;
