// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/** A node's disk in memory, behind {@code java.nio.file}: it fails, fills up, and loses what is not synced. */
@NullMarked
package io.dra4j.simulation.disk;

import org.jspecify.annotations.NullMarked;
