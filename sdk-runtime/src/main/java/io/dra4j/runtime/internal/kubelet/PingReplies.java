// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Answers the PING frames of an HTTP/2 client below gRPC's transport, which never sees them.
 *
 * <p>The kubelet's gRPC sends a PING with each message that it receives, to estimate the bandwidth.
 * The OkHttp transport counts each reply as queued until 8 KiB are written at once, which small
 * answers never do, and closes the connection at 10,000. No option changes that; the kubelet would
 * lose its plugin in the middle of a call. It also treats PINGs without calls as abuse.
 *
 * <p>It only parses where HTTP/2 frames begin. One thread reads and one writes. A reply goes
 * out by the reader's thread, or by the writer's at the end of a frame that it has begun.
 */
final class PingReplies {

    private static final int PREFACE = 24; // bytes, before a client's first frame
    private static final int HEADER = 9; // bytes
    private static final int TYPE = 3; // its place in a header
    private static final int FLAGS = 4;
    private static final int PING = 6;
    private static final int ACK = 1;
    private static final int PAYLOAD = 8; // bytes of a PING

    private final Input input;
    private final Output output;

    /** Wraps a connection's streams for the transport. */
    PingReplies(InputStream in, OutputStream out) {
        output = new Output(out);
        input = new Input(in);
    }

    InputStream input() {
        return input;
    }

    OutputStream output() {
        return output;
    }

    /** A stream that reads a single byte as an array of one. */
    abstract static class ArrayInput extends InputStream {

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }
    }

    /** Returns the length of a frame after its header. */
    private static int length(byte[] header) {
        return Byte.toUnsignedInt(header[0]) << 16 | Byte.toUnsignedInt(header[1]) << 8 | Byte.toUnsignedInt(header[2]);
    }

    /** The bytes of the client, without its PINGs. */
    private final class Input extends ArrayInput {

        private final InputStream in;
        private final byte[] chunk = new byte[8 * 1024];
        private int next; // of the chunk's bytes
        private int end;
        private final byte[] header = new byte[HEADER];
        private int headerSent = HEADER;
        private int passing = PREFACE; // bytes that are not a header

        Input(InputStream in) {
            this.in = in;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            while (headerSent == HEADER && passing == 0) {
                if (!readHeader()) {
                    return -1;
                }
            }
            if (headerSent < HEADER) {
                int count = Math.min(length, HEADER - headerSent);
                System.arraycopy(header, headerSent, bytes, offset, count);
                headerSent += count;
                return count;
            }
            if (next == end && !fill()) {
                return -1;
            }
            int count = Math.min(Math.min(length, passing), end - next);
            System.arraycopy(chunk, next, bytes, offset, count);
            next += count;
            passing -= count;
            return count;
        }

        /** Reads a frame's header, and all of a PING. Returns false at the end of the stream. */
        private boolean readHeader() throws IOException {
            if (!readFully(header)) {
                return false;
            }
            boolean isPing = header[TYPE] == PING && (header[FLAGS] & ACK) == 0;
            if (!isPing || length(header) != PAYLOAD) { // one of another length is an error
                headerSent = 0;
                passing = length(header);
                return true;
            }
            byte[] payload = new byte[PAYLOAD];
            if (!readFully(payload)) {
                return false;
            }
            output.reply(payload);
            return true;
        }

        private boolean readFully(byte[] bytes) throws IOException {
            for (int i = 0; i < bytes.length; i++) {
                if (next == end && !fill()) {
                    return false;
                }
                bytes[i] = chunk[next++];
            }
            return true;
        }

        private boolean fill() throws IOException {
            next = 0;
            end = Math.max(0, in.read(chunk, 0, chunk.length));
            return end > 0;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    /** The bytes of the transport, with replies between its frames. */
    private static final class Output extends OutputStream {

        private final OutputStream out;
        private final byte[] header = new byte[HEADER]; // guarded by this, as is what follows
        private int headerSeen;
        private int unsent; // bytes of the frame that has begun
        private boolean hasBegun;
        private final ByteArrayOutputStream replies = new ByteArrayOutputStream();

        Output(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            hasBegun |= length > 0;
            follow(bytes, offset, offset + length);
            sendReplies();
        }

        private void follow(byte[] bytes, int from, int to) {
            int at = from;
            while (at < to) {
                if (unsent > 0) {
                    int count = Math.min(unsent, to - at);
                    unsent -= count;
                    at += count;
                } else {
                    header[headerSeen++] = bytes[at++];
                    if (headerSeen == HEADER) {
                        headerSeen = 0;
                        unsent = length(header);
                    }
                }
            }
        }

        synchronized void reply(byte[] payload) throws IOException {
            replies.writeBytes(new byte[] {0, 0, PAYLOAD, PING, ACK, 0, 0, 0, 0});
            replies.writeBytes(payload);
            sendReplies();
        }

        /** A server's first frame is its SETTINGS. */
        private void sendReplies() throws IOException {
            if (replies.size() > 0 && hasBegun && unsent == 0 && headerSeen == 0) {
                byte[] bytes = replies.toByteArray();
                replies.reset();
                out.write(bytes, 0, bytes.length);
            }
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
