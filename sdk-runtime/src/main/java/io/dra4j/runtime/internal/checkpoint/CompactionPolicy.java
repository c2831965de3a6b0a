// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

/**
 * Says when a journal is worth writing afresh: when it has grown to four times what its claims
 * need, and that is much.
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

    boolean isTooMuch(long bytes) {
        return lines > mostLines || bytes > mostBytes;
    }

    /** The file is to be read anew. */
    void reset() {
        lines = 0;
        mostLines = LINES;
        mostBytes = BYTES;
    }

    /** The file was written afresh. */
    void startFrom(int freshLines, long freshBytes) {
        lines = freshLines;
        mostLines = Math.max(LINES, 4L * freshLines);
        mostBytes = Math.max(BYTES, 4 * freshBytes);
    }

    /** The file could not be written afresh, and that is not tried again at the next line. */
    void postpone(long bytes) {
        mostLines = lines + LINES;
        mostBytes = bytes + BYTES;
    }
}
