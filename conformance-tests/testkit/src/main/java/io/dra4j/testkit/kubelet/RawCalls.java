// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Sends bytes to a socket of a driver: raw, or as the message of a well-formed call.
 *
 * <p>Thread-safe; has its own connection.
 */
public final class RawCalls implements AutoCloseable {

    /** Passes messages as they are. */
    public static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Path socket;
    private final SocketChannels channels = new SocketChannels();
    private final ManagedChannel channel;

    /** Calls with the {@code :authority} that the kubelet has for service sockets. */
    public RawCalls(Path socket) {
        this(socket, "localhost");
    }

    /** Calls with the given {@code :authority}. */
    public RawCalls(Path socket, String authority) {
        this.socket = socket;
        channel = channels.open(socket, authority);
    }

    /**
     * The result of a call.
     *
     * @param code the gRPC status code, such as {@code UNIMPLEMENTED}
     * @param detail the detail of the status; may be empty
     * @param message the raw response; empty if the call failed
     */
    public record Response(String code, String detail, byte[] message) {

        /** The code and its detail, for people. */
        @Override
        public String toString() {
            return detail.isEmpty() ? code : code + ": " + detail;
        }
    }

    /** Calls a method with a message of these bytes, and returns how the call ended. */
    public Response call(String method, byte[] message) {
        MethodDescriptor<byte[], byte[]> descriptor = MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodType.UNARY)
                .setFullMethodName(method)
                .setRequestMarshaller(BYTES)
                .setResponseMarshaller(BYTES)
                .build();
        try {
            byte[] response = ClientCalls.blockingUnaryCall(
                    channel,
                    descriptor,
                    CallOptions.DEFAULT.withDeadlineAfter(LIMIT.toMillis(), TimeUnit.MILLISECONDS),
                    message);
            return new Response("OK", "", response);
        } catch (StatusRuntimeException e) {
            String detail = e.getStatus().getDescription();
            return new Response(e.getStatus().getCode().name(), detail == null ? "" : detail, new byte[0]);
        }
    }

    /**
     * Connects and sends nothing yet. The connection is closed after half a minute: one to a driver that does not accept
     * it, or reads nothing, would block its user forever.
     */
    public SocketChannel connect() throws IOException {
        return connect(LIMIT);
    }

    SocketChannel connect(Duration limit) throws IOException {
        SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX);
        CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> closeQuietly(raw));
        raw.connect(UnixDomainSocketAddress.of(socket));
        return raw;
    }

    private static void closeQuietly(SocketChannel raw) {
        try {
            raw.close();
        } catch (IOException e) {
            // it was broken
        }
    }

    @Override
    public void close() {
        channels.close();
    }
}
