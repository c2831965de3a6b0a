// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A node's disk in memory, behind {@code java.nio.file}: it fails, fills up, and loses unsynced changes.
 *
 * <p>Flow: a call of {@code Files} → its owner, which may fail it → the page cache → a sync, or a loss of power.
 */
@NullMarked
package io.dra4j.simulation.disk;

import org.jspecify.annotations.NullMarked;
