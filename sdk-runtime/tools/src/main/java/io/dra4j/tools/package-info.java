// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Commands of every driver's program for the people who operate its node, which the driver itself never loads.
 *
 * <p>Flow: io.dra4j.runtime.DriverMain → a command here → the node, read by the runtime's own code → a report.
 */
@NullMarked
package io.dra4j.tools;

import org.jspecify.annotations.NullMarked;
