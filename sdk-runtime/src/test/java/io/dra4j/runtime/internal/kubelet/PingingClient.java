// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** One HTTP/2 connection in raw bytes, which sends a PING with each call as gRPC for Go does. */
final class PingingClient implements AutoCloseable {

    private static final int HEADERS = 1;
    private static final int PING = 6;

    final SocketChannel channel;
    private final DataInputStream answers;
    private int stream = -1;

    PingingClient(SocketAddress address) throws IOException {
        channel = SocketChannel.open(address);
        answers = new DataInputStream(new Bytes());
        ByteArrayOutputStream start = new ByteArrayOutputStream();
        start.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(start, 4, 0, 0, new byte[0]);
        frame(start, 8, 0, 0, new byte[] {0x3f, 0, 0, 0}); // a large window
        send(start);
    }

    /** Calls a method with an empty message, and waits for its trailers and the PING's reply. */
    void call(String method) throws IOException {
        ByteArrayOutputStream headers = new ByteArrayOutputStream();
        header(headers, ":method", "POST");
        header(headers, ":scheme", "http");
        header(headers, ":path", "/" + method);
        header(headers, ":authority", "localhost");
        header(headers, "content-type", "application/grpc");
        header(headers, "user-agent", "grpc-go/1.79.3");
        header(headers, "te", "trailers");
        ByteArrayOutputStream call = new ByteArrayOutputStream();
        stream += 2;
        frame(call, HEADERS, 4, stream, headers.toByteArray());
        frame(call, 0, 1, stream, new byte[5]);
        ping(call);
        send(call);
        await(true);
    }

    /** Sends a PING alone, and waits for its reply. */
    void ping() throws IOException {
        ByteArrayOutputStream ping = new ByteArrayOutputStream();
        ping(ping);
        send(ping);
        await(false);
    }

    private static void ping(ByteArrayOutputStream out) {
        frame(out, PING, 0, 0, new byte[] {2, 4, 16, 16, 9, 14, 7, 7});
    }

    private void await(boolean trailers) throws IOException {
        boolean ended = !trailers;
        boolean replied = false;
        while (!ended || !replied) {
            int length = answers.readUnsignedByte() << 16 | answers.readUnsignedShort();
            int type = answers.readUnsignedByte();
            int flags = answers.readUnsignedByte();
            answers.readInt();
            answers.skipNBytes(length);
            ended |= type == HEADERS && (flags & 1) != 0;
            replied |= type == PING && (flags & 1) != 0;
            if (type == 3 || type == 7) {
                throw new IOException("Reset or GOAWAY: " + type);
            }
        }
    }

    private void send(ByteArrayOutputStream bytes) throws IOException {
        ByteBuffer unsent = ByteBuffer.wrap(bytes.toByteArray());
        while (unsent.hasRemaining()) {
            channel.write(unsent);
        }
    }

    /** Returns whether the server has ended the connection; waits for it. */
    boolean isEnded() throws IOException {
        byte[] rest = new byte[1024];
        try {
            while (answers.read(rest) >= 0) {
                // what it sent before
            }
        } catch (IOException e) {
            return e.getMessage().contains("reset");
        }
        return true;
    }

    private static void header(ByteArrayOutputStream headers, String name, String value) {
        headers.write(0);
        for (String text : List.of(name, value)) {
            headers.write(text.length());
            headers.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static void frame(ByteArrayOutputStream out, int type, int flags, int stream, byte[] payload) {
        ByteBuffer header = ByteBuffer.allocate(9).put((byte) 0).putShort((short) payload.length);
        out.writeBytes(header.put((byte) type).put((byte) flags).putInt(stream).array());
        out.writeBytes(payload);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private final class Bytes extends InputStream {
        private final ByteBuffer chunk = ByteBuffer.allocate(8192).flip();

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (!chunk.hasRemaining()) {
                int count = channel.read(chunk.clear());
                chunk.flip();
                if (count < 0) {
                    return -1;
                }
            }
            int count = Math.min(length, chunk.remaining());
            chunk.get(bytes, offset, count);
            return count;
        }
    }
}
