// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Connects to unix sockets as the kubelet does. */
final class SocketClient implements AutoCloseable {

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("test-kubelet", true), EpollIoHandler.newFactory());
    private final List<ManagedChannel> channels = new CopyOnWriteArrayList<>();

    ManagedChannel channel(Path socket, String authority) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(group)
                .withOption(ChannelOption.SO_KEEPALIVE, null) // unix sockets lack it
                .overrideAuthority(authority)
                .usePlaintext()
                .build();
        channels.add(channel);
        return channel;
    }

    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    /** Calls the same methods of a service of another name. */
    record Named(String service) implements ClientInterceptor {

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            String name = MethodDescriptor.generateFullMethodName(service, method.getBareMethodName());
            return next.newCall(method.toBuilder().setFullMethodName(name).build(), options);
        }
    }
}
