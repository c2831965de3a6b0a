// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bytes between line feeds, piece by piece, valid or not.
 *
 * <p>It needs memory for one piece, and keeps only the start of a piece that is longer than a line can be. Not
 * thread-safe.
 */
final class LineReader {

    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16).limit(0);
    private long position; // of the next byte that next() looks at

    LineReader(FileChannel channel, long position) {
        this.channel = channel;
        this.position = position;
    }

    /**
     * The bytes between two line feeds.
     *
     * @param end where the next piece begins
     * @param isEnded true if a line feed follows; if not, it is the file's end
     */
    record Piece(byte[] bytes, long end, boolean isEnded) {}

    /** Returns the next piece, or {@code null} at the file's end. */
    @Nullable
    Piece next() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
        long start = position;
        while (buffer.hasRemaining() || fill()) {
            byte next = buffer.get();
            position++;
            if (next == '\n') {
                return new Piece(bytes.toByteArray(), position, true);
            }
            if (bytes.size() < JournalFormat.LONGEST_LINE) {
                bytes.write(next);
            }
        }
        return position == start ? null : new Piece(bytes.toByteArray(), position, false);
    }

    private boolean fill() throws IOException {
        buffer.clear();
        int read = channel.read(buffer, position);
        buffer.flip();
        return read > 0;
    }
}
