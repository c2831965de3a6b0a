// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reports what a run has found: in files for people and programs, and live on the terminal.
 *
 * <p>Flow: the results of the engine → here → {@code report.yaml}, {@code junit.xml}, {@code report.html}, {@code
 * coverage.md} and the terminal.
 */
@NullMarked
package io.dra4j.conformance.report;

import org.jspecify.annotations.NullMarked;
