// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * A matrix of tests and the mutants that they kill, and its comparison with a baseline.
 *
 * <p>Flow: PIT, with JUnit's tests from {@code TestMethods} → here → {@code .ci/mutation.csv}.
 */
@NullMarked
package io.dra4j.mutation;

import org.jspecify.annotations.NullMarked;
