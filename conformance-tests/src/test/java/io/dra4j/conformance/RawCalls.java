// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Sends bytes to a socket of a driver: as they are, or as the message of a well-formed call. */
final class RawCalls implements AutoCloseable {

    private static final MethodDescriptor.Marshaller<byte[]> BYTES =
            new MethodDescriptor.Marshaller<>() {
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

    private final Path socket;
    private final EventLoopGroup group =
            new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final ManagedChannel channel;

    RawCalls(Path socket) {
        this.socket = socket;
        channel =
                NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                        .channelType(EpollDomainSocketChannel.class)
                        .eventLoopGroup(group)
                        .withOption(ChannelOption.SO_KEEPALIVE, null)
                        .overrideAuthority("localhost")
                        .usePlaintext()
                        .build();
    }

    /** Calls a method with a message of these bytes, and returns how the call ended. */
    Status.Code call(String method, byte[] message) {
        MethodDescriptor<byte[], byte[]> descriptor =
                MethodDescriptor.<byte[], byte[]>newBuilder()
                        .setType(MethodType.UNARY)
                        .setFullMethodName(method)
                        .setRequestMarshaller(BYTES)
                        .setResponseMarshaller(BYTES)
                        .build();
        try {
            ClientCalls.blockingUnaryCall(
                    channel,
                    descriptor,
                    CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS),
                    message);
            return Status.Code.OK;
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode();
        }
    }

    /** Connects and sends nothing yet. */
    SocketChannel connect() throws IOException {
        SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX);
        raw.connect(UnixDomainSocketAddress.of(socket));
        return raw;
    }

    /** Sends bytes over a connection of their own, and waits until the driver has closed it. */
    void send(byte[] bytes) throws IOException {
        try (SocketChannel raw = connect()) {
            ByteBuffer answer = ByteBuffer.allocate(8192);
            try {
                ByteBuffer all = ByteBuffer.wrap(bytes);
                while (all.hasRemaining()) {
                    raw.write(all);
                }
                raw.shutdownOutput();
                while (raw.read(answer.clear()) >= 0) {
                    // what it answers is its affair
                }
            } catch (IOException e) {
                // it closed before it had heard all
            }
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
