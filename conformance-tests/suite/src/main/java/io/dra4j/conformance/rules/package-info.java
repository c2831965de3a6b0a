// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The rules as code: one class for each area of the catalogue, one method for each requirement.
 *
 * <p>Flow: the run chooses a method by its {@link io.dra4j.conformance.rules.Rule} → it asks the
 * test context → it returns, or throws a violation with what was seen.
 */
@NullMarked
package io.dra4j.conformance.rules;

import org.jspecify.annotations.NullMarked;
