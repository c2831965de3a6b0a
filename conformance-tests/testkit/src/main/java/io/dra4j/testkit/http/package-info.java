// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of HTTP that the embedded API server and the proxy share.
 *
 * <p>Flow: a request's path as it was sent → {@code PathSegments} → the kind, the namespace and the
 * name that it means, in {@code apiserver} and {@code proxy}.
 */
@NullMarked
package io.dra4j.testkit.http;

import org.jspecify.annotations.NullMarked;
