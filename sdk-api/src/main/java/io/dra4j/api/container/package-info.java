// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Edits of containers, in the terms of the Container Device Interface (CDI).
 *
 * <p>Flow: your provider → here → a CDI spec → the container runtime.
 */
@NullMarked
package io.dra4j.api.container;

import org.jspecify.annotations.NullMarked;
