// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Counts the claims of the cluster that wait for devices, by device class, and serves the counts from one process.
 *
 * <p>Flow: a scrape → here → the API server, once in a while.
 */
@NullMarked
package io.dra4j.tools.pending;

import org.jspecify.annotations.NullMarked;
