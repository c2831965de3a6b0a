// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The API server of a simulation, and the client that reaches it without sockets: with latency and faults.
 *
 * <p>Flow: driver → {@code SimulatedHttpClient} → {@code Connection} → {@code SimulatedApiServer} → test kit.
 */
@NullMarked
package io.dra4j.simulation.api;

import org.jspecify.annotations.NullMarked;
