// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of how drivers are run.
 *
 * <p>Flow: settings → a place → a process → what it found there.
 */
@NullMarked
package io.dra4j.testkit.driver;

import org.jspecify.annotations.NullMarked;
