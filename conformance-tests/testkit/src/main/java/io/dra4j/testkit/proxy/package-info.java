// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A reverse proxy between a driver and an API server, which records every request and can make requests fail; and a TCP
 * proxy below it that can do so with connections.
 *
 * <p>Flow: the driver's HTTP request → {@code ProxiedRequests} (records, looks for a fault) → the
 * API server → {@code Relay} (forwards the response, piece by piece) → the driver.
 */
@NullMarked
package io.dra4j.testkit.proxy;

import org.jspecify.annotations.NullMarked;
