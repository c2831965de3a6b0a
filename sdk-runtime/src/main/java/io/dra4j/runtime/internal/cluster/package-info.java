// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Talks to the API server: reads claims, keeps slices; the only package that uses fabric8.
 *
 * <p>Flow: internal.claim and internal.publish → here → the API server.
 */
@NullMarked
package io.dra4j.runtime.internal.cluster;

import org.jspecify.annotations.NullMarked;
