// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * An API server for the DRA types, embedded in a test or a demo, speaking real HTTP to clients in
 * any language.
 *
 * <p>Flow: HTTP request → {@code ApiHandler} (transport) → {@code Registry} (verbs, strategies,
 * validation) → {@code ObjectStore} (state and history) → watches.
 */
@NullMarked
package io.dra4j.testkit.apiserver;

import org.jspecify.annotations.NullMarked;
