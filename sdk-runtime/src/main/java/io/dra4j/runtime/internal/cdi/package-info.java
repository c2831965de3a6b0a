// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Write, repair and remove CDI specs.
 *
 * <p>Flow: claim → here → the CDI directory → the container runtime.
 */
@NullMarked
package io.dra4j.runtime.internal.cdi;

import org.jspecify.annotations.NullMarked;
