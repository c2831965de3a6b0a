// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Report what a run has found: in files for people and for machines, and on the terminal as it goes.
 *
 * <p>Flow: the results of the engine → here → {@code report.yaml}, {@code junit.xml}, {@code report.html}, {@code
 * coverage.md} and the terminal.
 */
@NullMarked
package io.dra4j.conformance.report;

import org.jspecify.annotations.NullMarked;
