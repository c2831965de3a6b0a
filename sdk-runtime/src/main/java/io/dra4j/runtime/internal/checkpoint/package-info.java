// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Remembers claims durably, and excludes the processes of one driver from each other.
 *
 * <p>Flow: claim → here → the journal file. Within: {@code WriteGroup} → {@code Journal} → {@code
 * JournalStore}, which reads through {@code Replay} and writes through {@code JournalFile}.
 */
@NullMarked
package io.dra4j.runtime.internal.checkpoint;

import org.jspecify.annotations.NullMarked;
