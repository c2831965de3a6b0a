// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.time.Duration;

/**
 * Receives measurements of a journal; by default, ignores them.
 *
 * <p>It is called on the journal's own thread, which waits for it: it must be quick and not throw.
 */
public interface JournalMeter {

    /** Ignores all. */
    JournalMeter NONE = new JournalMeter() {};

    /** A write was brought to the disk, in that time. */
    default void synced(Duration duration) {}

    /** The file has that size now. */
    default void size(long bytes) {}

    /** That many claims are committed now. */
    default void claims(int count) {}

    /** That many lines were found damaged or gone. */
    default void damaged(int lines) {}
}
