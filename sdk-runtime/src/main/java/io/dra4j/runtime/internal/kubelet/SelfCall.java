// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.grpc.Status;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Calls the driver's own sockets as the kubelet does, each over a separate connection.
 *
 * <p>A first call loads most of the classes that a call needs. The kubelet waits one second for its
 * first answer; a JVM that loads them then may miss it.
 *
 * @param limit the time of each call
 */
record SelfCall(PluginSockets sockets, Duration limit) {

    /**
     * Makes the kubelet's calls on both sockets, without side effects.
     *
     * @throws DraException if one does not answer
     */
    void toBoth(Path registration, Path service) {
        call(registration, RegistrationGrpc.getGetInfoMethod().getFullMethodName());
        call(service, DRAPluginGrpc.getNodePrepareResourcesMethod().getFullMethodName());
    }

    private void call(Path socket, String method) {
        try {
            RawCall.unary(socket, sockets.hidden(socket), method, limit);
        } catch (IOException e) {
            throw new DraException("The driver's own socket " + socket + " does not answer: " + e.getMessage(), e);
        }
    }

    /**
     * One gRPC call with an empty message over its own connection, in bytes of HTTP/2.
     *
     * <p>A driver calls only itself. gRPC's client would cost it hundreds of classes. This one understands the answers
     * of the driver's own server, which writes the first headers of a connection as plain text.
     */
    private static final class RawCall {

        private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        private static final int DATA = 0;
        private static final int HEADERS = 1;
        private static final int RST_STREAM = 3;
        private static final int SETTINGS = 4;
        private static final int GOAWAY = 7;
        private static final int END_STREAM = 1;
        private static final int END_HEADERS = 4;
        private static final int LONGEST_TEXT = 126; // bytes; a longer one has a longer length

        private RawCall() {}

        /**
         * Calls a method, and ignores its response.
         *
         * @throws IOException if it fails, or has no answer in time
         */
        static void unary(Path socket, Path hidden, String method, Duration limit) throws IOException {
            long end = System.nanoTime() + limit.toNanos();
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                    Selector selector = Selector.open()) {
                channel.configureBlocking(false);
                if (!SocketFile.connect(channel, socket, hidden)) { // Java 17 throws here
                    throw new IOException("too many connections wait for it");
                }
                channel.write(ByteBuffer.wrap(request(method, limit)));
                channel.register(selector, SelectionKey.OP_READ);
                checkStatus(new DataInputStream(new Answer(channel, selector, end)));
            }
        }

        private static byte[] request(String method, Duration limit) {
            ByteArrayOutputStream headers = new ByteArrayOutputStream();
            header(headers, ":method", "POST");
            header(headers, ":scheme", "http");
            header(headers, ":path", "/" + method);
            header(headers, ":authority", "localhost");
            header(headers, "content-type", "application/grpc");
            header(headers, "te", "trailers");
            header(headers, "grpc-timeout", limit.toMillis() + "m");
            ByteArrayOutputStream request = new ByteArrayOutputStream();
            request.writeBytes(PREFACE.getBytes(StandardCharsets.US_ASCII));
            frame(request, SETTINGS, 0, 0, new byte[0]);
            frame(request, HEADERS, END_HEADERS, 1, headers.toByteArray());
            frame(request, DATA, END_STREAM, 1, new byte[5]); // a message of no bytes
            return request.toByteArray();
        }

        /** Writes a header that is in no table. */
        private static void header(ByteArrayOutputStream headers, String name, String value) {
            headers.write(0);
            for (String text : List.of(name, value)) {
                if (text.length() > LONGEST_TEXT) {
                    throw new IllegalArgumentException("Too long: " + text);
                }
                headers.write(text.length());
                headers.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
            }
        }

        private static void frame(ByteArrayOutputStream out, int type, int flags, int stream, byte[] payload) {
            byte[] header = {
                0,
                (byte) (payload.length >> 8),
                (byte) payload.length,
                (byte) type,
                (byte) flags,
                0,
                0,
                0,
                (byte) stream
            };
            out.writeBytes(header);
            out.writeBytes(payload);
        }

        private static void checkStatus(DataInputStream answer) throws IOException {
            while (true) {
                int length = answer.readUnsignedByte() << 16 | answer.readUnsignedShort();
                int type = answer.readUnsignedByte();
                int flags = answer.readUnsignedByte();
                answer.readInt();
                byte[] payload = new byte[length];
                answer.readFully(payload);
                if (type == HEADERS && (flags & END_STREAM) != 0) {
                    checkTrailers(new String(payload, StandardCharsets.ISO_8859_1));
                    return;
                }
                if (type == RST_STREAM || type == GOAWAY) {
                    throw new IOException("the call was ended by a frame of type " + type);
                }
            }
        }

        private static void checkTrailers(String trailers) throws IOException {
            String code = value(trailers, "grpc-status");
            if (!code.equals("0")) {
                Status status =
                        code.matches("\\d{1,2}") ? Status.fromCodeValue(Integer.parseInt(code)) : Status.UNKNOWN;
                throw new IOException(status.getCode() + ": " + value(trailers, "grpc-message"));
            }
        }

        /** Returns the value of a header, or nothing. */
        private static String value(String headers, String name) {
            int length = headers.indexOf(name) + name.length();
            if (length < name.length() || length >= headers.length()) {
                return "";
            }
            int from = length + 1;
            return headers.substring(from, Math.min(from + headers.charAt(length), headers.length()));
        }

        /** The bytes of a non-blocking channel, until the deadline. */
        private static final class Answer extends PingReplies.ArrayInput {

            private final SocketChannel channel;
            private final Selector selector;
            private final long end;

            Answer(SocketChannel channel, Selector selector, long end) {
                this.channel = channel;
                this.selector = selector;
                this.end = end;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                while (true) {
                    int count = channel.read(ByteBuffer.wrap(bytes, offset, length));
                    if (count != 0 || length == 0) {
                        return count;
                    }
                    long left = (end - System.nanoTime()) / 1_000_000;
                    if (left <= 0) {
                        throw new IOException("no answer in time");
                    }
                    selector.select(left);
                    selector.selectedKeys().clear();
                }
            }
        }
    }
}
