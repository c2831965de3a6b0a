// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Applies manifests to the embedded API server, as {@code kubectl apply} does.
 *
 * <p>Flow: files or a text → objects in the order in which they may be created → the server.
 */
@NullMarked
package io.dra4j.testkit.manifests;

import org.jspecify.annotations.NullMarked;
