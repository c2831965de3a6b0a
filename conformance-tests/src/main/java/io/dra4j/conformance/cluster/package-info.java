// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The API server as the suite itself uses it: it makes claims, and looks at slices.
 *
 * <p>Flow: a rule → {@link io.dra4j.conformance.cluster.Cluster} → the API server, not through the
 * proxy.
 */
@NullMarked
package io.dra4j.conformance.cluster;

import org.jspecify.annotations.NullMarked;
