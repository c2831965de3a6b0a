// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The suite's own access to the API server: the connection, and the claims and slices on the server.
 *
 * <p>Flow: a kubeconfig → {@link io.dra4j.testkit.cluster.KubeconfigUpstream} → the proxy; a rule →
 * {@link io.dra4j.testkit.cluster.ApiObjects} → the API server.
 */
@NullMarked
package io.dra4j.testkit.cluster;

import org.jspecify.annotations.NullMarked;
