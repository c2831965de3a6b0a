// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The driver under test: start, stop, kill, and its output.
 *
 * <p>Flow: the settings → a {@link io.dra4j.testkit.driver.DriverAdapter} → instances of the driver → the test context.
 */
@NullMarked
package io.dra4j.testkit.driver;

import org.jspecify.annotations.NullMarked;
