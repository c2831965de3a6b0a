// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Talk to the API server: read claims, keep slices; the only home of fabric8.
 *
 * <p>Flow: internal.claim and internal.publish → here → the API server.
 */
@NullMarked
package io.dra4j.runtime.internal.cluster;

import org.jspecify.annotations.NullMarked;
