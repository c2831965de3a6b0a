// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The edits of a container with a GPU: device nodes, the driver's files, and hooks.
 *
 * <p>Flow: a claim's devices → here → container edits, which the SDK writes as a CDI spec.
 */
@NullMarked
package io.dra4j.nvidia.prepare;

import org.jspecify.annotations.NullMarked;
