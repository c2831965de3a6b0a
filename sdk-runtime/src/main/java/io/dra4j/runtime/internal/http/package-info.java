// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Serves a few pages over HTTP or HTTPS, to any number of clients, including slow ones.
 *
 * <p>Flow: metrics, probes and admission reviews → here → the JDK's server. A leaf.
 */
@NullMarked
package io.dra4j.runtime.internal.http;

import org.jspecify.annotations.NullMarked;
