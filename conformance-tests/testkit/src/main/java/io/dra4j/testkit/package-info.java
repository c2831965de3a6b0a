// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test doubles for what surrounds a DRA driver on a node: API server, kubelet, fault proxy and driver processes.
 *
 * <p>Flow: a test starts {@link io.dra4j.testkit.apiserver}, {@link io.dra4j.testkit.proxy} and {@link
 * io.dra4j.testkit.kubelet} → {@link io.dra4j.testkit.driver} starts the driver → the test reads requests, calls and
 * {@link io.dra4j.testkit.cdi} specs.
 */
@NullMarked
package io.dra4j.testkit;

import org.jspecify.annotations.NullMarked;
