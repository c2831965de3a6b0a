// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Devices and folders that the benchmarks share; each benchmark is in the package that it measures.
 *
 * <p>Flow: the parts of a driver → here → the table of JMH.
 */
@NullMarked
package io.dra4j.benchmarks;

import org.jspecify.annotations.NullMarked;
