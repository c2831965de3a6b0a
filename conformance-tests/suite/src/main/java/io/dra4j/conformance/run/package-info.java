// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The run: requirements, their order and their verdicts.
 *
 * <p>Flow: settings and catalogue → {@link io.dra4j.conformance.run.Engine} (execution groups, needs, gates, versions
 * of the service) → a rule → {@link io.dra4j.conformance.run.Result} → the report.
 */
@NullMarked
package io.dra4j.conformance.run;

import org.jspecify.annotations.NullMarked;
