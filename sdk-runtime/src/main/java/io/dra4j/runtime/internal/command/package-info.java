// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Lets another artifact, {@code dra4j-node-tools}, have commands of every driver's program, which no driver loads.
 *
 * <p>Flow: the command line → a command, found by {@link java.util.ServiceLoader} → the driver's node.
 */
@NullMarked
package io.dra4j.runtime.internal.command;

import org.jspecify.annotations.NullMarked;
