// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Calls the driver's own sockets as the kubelet does.
 *
 * <p>A first call loads most of the classes that a call needs. The kubelet waits one second for its
 * first answer; a JVM that loads them then may miss it.
 */
final class SelfCall {

    private SelfCall() {}

    /**
     * Asks both sockets what the kubelet asks, with effects on nothing.
     *
     * @param limit the longest time of each of the two calls
     * @throws DraException if one does not answer
     */
    static void toBoth(Path registration, Path service, Duration limit) {
        EventLoopGroup group = SocketServer.eventLoop("dra4j-self-call");
        try {
            call(
                    group,
                    registration,
                    channel ->
                            RegistrationGrpc.newBlockingStub(channel)
                                    .withDeadlineAfter(limit)
                                    .getInfo(InfoRequest.getDefaultInstance()));
            call(
                    group,
                    service,
                    channel ->
                            DRAPluginGrpc.newBlockingStub(channel)
                                    .withDeadlineAfter(limit)
                                    .nodePrepareResources(
                                            NodePrepareResourcesRequest.getDefaultInstance()));
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    private static void call(EventLoopGroup group, Path socket, Consumer<ManagedChannel> call) {
        ManagedChannel channel = channel(group, socket, "localhost");
        try {
            call.accept(channel);
        } catch (StatusRuntimeException e) {
            throw new DraException(
                    "The driver's own socket " + socket + " does not answer: " + e.getStatus(), e);
        } finally {
            channel.shutdownNow();
        }
    }

    /** Returns a channel to a socket, which connects at its first call. */
    static ManagedChannel channel(EventLoopGroup group, Path socket, String authority) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(group)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .overrideAuthority(authority)
                .usePlaintext()
                .build();
    }
}
