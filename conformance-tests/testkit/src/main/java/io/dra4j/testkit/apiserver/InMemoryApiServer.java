// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import io.dra4j.testkit.apiserver.http.InMemoryApi;

/**
 * The API server without sockets and threads, for programs with their own clock: a simulation.
 *
 * <p>It answers as {@link EmbeddedApiServer} does, by the same code, on the threads that call it.
 *
 * @param store the objects, for the program that runs the server
 * @param api takes requests
 */
public record InMemoryApiServer(ClusterObjects store, InMemoryApi api) {}
