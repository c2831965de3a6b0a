// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** Calls of the kubelet as bytes on the wire: HTTP/2 frames, written by hand. */
public final class WireBytes {

    public static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int SETTINGS = 4;
    public static final int END_STREAM = 1;
    public static final int END_HEADERS = 4;

    private WireBytes() {}

    /** A whole call of a method, from the connection's first byte on. */
    public static byte[] call(String method, byte[] message) {
        return join(
                PREFACE,
                frame(SETTINGS, 0, 0, new byte[0]),
                frame(HEADERS, END_HEADERS, 1, headers(method)),
                frame(DATA, END_STREAM, 1, message(message.length, message)));
    }

    public static byte[] frame(int type, int flags, int stream, byte[] payload) {
        return frame(payload.length, type, flags, stream, payload);
    }

    /** A frame with a declared length, which may differ from that of its payload. */
    public static byte[] frame(int length, int type, int flags, int stream, byte[] payload) {
        ByteBuffer head = ByteBuffer.allocate(9);
        head.put((byte) (length >> 16)).putShort((short) length);
        head.put((byte) type).put((byte) flags).putInt(stream);
        return join(head.array(), payload);
    }

    /** The prefix of a gRPC message with a declared length, and bytes. */
    public static byte[] message(int length, byte[] bytes) {
        return join(ByteBuffer.allocate(5).put((byte) 0).putInt(length).array(), bytes);
    }

    /** Headers by HPACK, in its plainest form: indexes of its fixed table, and literals. */
    public static byte[] headers(String method) {
        return join(
                new byte[] {(byte) 0x83, (byte) 0x86}, // :method POST, :scheme http
                new byte[] {0x04},
                text("/" + method), // :path
                new byte[] {0x01},
                text("localhost"), // :authority
                new byte[] {0x0f, 0x10},
                text("application/grpc"), // content-type
                new byte[] {0x00},
                text("te"),
                text("trailers"));
    }

    private static byte[] text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return join(new byte[] {(byte) bytes.length}, bytes);
    }

    public static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Changes, cuts, repeats and leaves out some of the bytes. */
    public static byte[] mutate(byte[] bytes, Random random) {
        byte[] result = bytes;
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            result = mutateOnce(result, random);
        }
        return result;
    }

    private static byte[] mutateOnce(byte[] bytes, Random random) {
        if (bytes.length == 0) {
            return random(random, 16);
        }
        int at = random.nextInt(bytes.length);
        byte[] head = Arrays.copyOf(bytes, at);
        byte[] tail = Arrays.copyOfRange(bytes, at, bytes.length);
        return switch (random.nextInt(5)) {
            case 0 -> head;
            case 1 -> join(head, random(random, 8), tail);
            case 2 -> join(head, Arrays.copyOfRange(tail, Math.min(3, tail.length), tail.length));
            case 3 -> join(head, tail, tail);
            default -> {
                byte[] flipped = bytes.clone();
                flipped[at] ^= (byte) (1 << random.nextInt(8));
                yield flipped;
            }
        };
    }

    public static byte[] random(Random random, int longest) {
        byte[] bytes = new byte[random.nextInt(longest + 1)];
        random.nextBytes(bytes);
        return bytes;
    }
}
