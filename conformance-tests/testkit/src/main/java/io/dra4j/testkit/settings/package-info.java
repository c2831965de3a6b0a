// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Files that settings name, and the error of settings that cannot be used.
 *
 * <p>Flow: settings → {@link io.dra4j.testkit.settings.ManifestFiles} → the API server, RBAC and the claims of a run.
 */
@NullMarked
package io.dra4j.testkit.settings;

import org.jspecify.annotations.NullMarked;
