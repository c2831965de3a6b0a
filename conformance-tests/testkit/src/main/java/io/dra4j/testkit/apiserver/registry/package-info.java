// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs of the API (create, update, patch, apply, delete) on the store, without HTTP.
 *
 * <p>Flow: {@code http} → {@code Registry} → validation, apply → {@code store}.
 */
@NullMarked
package io.dra4j.testkit.apiserver.registry;

import org.jspecify.annotations.NullMarked;
