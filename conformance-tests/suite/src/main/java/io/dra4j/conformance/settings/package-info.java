// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of a run: the file of {@code run --config} as records.
 *
 * <p>Flow: the YAML file and the flags → {@link io.dra4j.conformance.settings.Settings} → the
 * driver's adapter, the test context and the run.
 */
@NullMarked
package io.dra4j.conformance.settings;

import org.jspecify.annotations.NullMarked;
