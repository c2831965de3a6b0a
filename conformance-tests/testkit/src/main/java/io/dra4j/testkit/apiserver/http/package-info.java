// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The API over HTTP: paths, queries, content negotiation, discovery and watch streams.
 *
 * <p>Flow: request → {@code ApiHandler} → {@code ResourceEndpoint} → {@code registry} → response.
 */
@NullMarked
package io.dra4j.testkit.apiserver.http;

import org.jspecify.annotations.NullMarked;
