// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * An API server for the DRA types, embedded in a test or a demo, speaking real HTTP to clients in any language.
 *
 * <p>Flow: request → {@code http} → {@code registry} (with {@code validation} and {@code apply}) → {@code store} →
 * watches.
 */
@NullMarked
package io.dra4j.testkit.apiserver;

import org.jspecify.annotations.NullMarked;
