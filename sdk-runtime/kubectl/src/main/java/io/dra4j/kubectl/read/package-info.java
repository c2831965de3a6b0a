// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Read what decides about devices from an API server, in chunks, into compact records.
 *
 * <p>Flow: a kubeconfig → requests → records of the allocator, and what explains them to people.
 */
@NullMarked
package io.dra4j.kubectl.read;

import org.jspecify.annotations.NullMarked;
