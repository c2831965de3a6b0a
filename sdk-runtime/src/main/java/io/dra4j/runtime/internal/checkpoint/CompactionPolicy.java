// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

/**
 * Decides when a journal is compacted: when it is large and has grown to four times the size that its claims need.
 */
final class CompactionPolicy {

    private static final int LINES = 1000;
    private static final long BYTES = 1 << 20;

    private long lines;
    private long mostLines = LINES;
    private long mostBytes = BYTES;

    void add(int written) {
        lines += written;
    }

    long lines() {
        return lines;
    }

    boolean isDue(long bytes) {
        return lines > mostLines || bytes > mostBytes;
    }

    /** Starts over, for a file that is read from its start. */
    void reset() {
        startFrom(0, 0);
    }

    /**
     * Continues with a file that was read, and most of whose lines may still be needed.
     *
     * @param freshLines how many lines a compacted file would have
     * @param bytes the size of the file; lines are assumed to have equal length
     */
    void goOn(int freshLines, long bytes) {
        allow(freshLines, bytes / Math.max(1, lines) * freshLines);
    }

    /** Starts from a compacted file. */
    void startFrom(int freshLines, long freshBytes) {
        lines = freshLines;
        allow(freshLines, freshBytes);
    }

    private void allow(int freshLines, long freshBytes) {
        mostLines = Math.max(LINES, 4L * freshLines);
        mostBytes = Math.max(BYTES, 4 * freshBytes);
    }

    /** Postpones the next attempt, so that it is not made with each line. */
    void postpone(long bytes) {
        mostLines = lines + LINES;
        mostBytes = bytes + BYTES;
    }
}
