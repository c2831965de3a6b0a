// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.nio.ByteBuffer;

/**
 * Follows a watch, in any pieces, and finds the ends of its events, where another event can be inserted.
 *
 * <p>For one stream and one thread.
 */
abstract sealed class EventBounds {

    /** Takes the next bytes, and leaves the buffer as it is. */
    abstract void sent(ByteBuffer bytes);

    abstract boolean betweenEvents();

    /** Each event ends with a line feed. */
    static final class Lines extends EventBounds {

        private byte last = '\n';

        @Override
        void sent(ByteBuffer bytes) {
            if (bytes.hasRemaining()) {
                last = bytes.get(bytes.limit() - 1);
            }
        }

        @Override
        boolean betweenEvents() {
            return last == '\n';
        }
    }

    /** Each event follows its length in four bytes. */
    static final class Frames extends EventBounds {

        private static final int LENGTH_BYTES = 4;

        private int lengthBytes; // how many bytes of the length were sent
        private long left; // the known part of the length; then the unsent part of the event

        @Override
        void sent(ByteBuffer bytes) {
            ByteBuffer unread = bytes.slice();
            while (unread.hasRemaining()) {
                if (lengthBytes < LENGTH_BYTES) {
                    left = left << Byte.SIZE | Byte.toUnsignedInt(unread.get());
                    lengthBytes++;
                } else {
                    int step = (int) Math.min(left, unread.remaining());
                    unread.position(unread.position() + step);
                    left -= step;
                }
                if (lengthBytes == LENGTH_BYTES && left == 0) {
                    lengthBytes = 0;
                }
            }
        }

        @Override
        boolean betweenEvents() {
            return lengthBytes == 0;
        }
    }
}
