// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The decisions of kube-scheduler about claims on a node, by release: pure, without a client.
 *
 * <p>Flow: a {@code ClusterState}, a node and claims → {@code Allocator} → an {@code Outcome}. Inside:
 * {@code Pools} finds the candidates, {@code Planner} checks the requests, {@code Search} tries the
 * candidates, and {@code Picks} checks one of them.
 */
@NullMarked
package io.dra4j.allocator;

import org.jspecify.annotations.NullMarked;
