// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC server on a unix socket, as the kubelet expects one.
 *
 * <p>Calls run on threads of their own, as many as there are calls, so that one that hangs keeps no
 * other waiting. Connections are never closed for their age or for being idle: the kubelet takes a
 * lost connection for a lost plugin.
 */
final class SocketServer {

    private static final int LARGEST_MESSAGE = 4 * 1024 * 1024;

    private final SocketFile file;
    private final EventLoopGroup group;
    private final ExecutorService calls;
    private final Server server;

    private SocketServer(String name, SocketFile file, List<ServerServiceDefinition> services) {
        this.file = file;
        group = eventLoop("dra4j-" + name + "-io");
        calls =
                Executors.newCachedThreadPool(
                        new DefaultThreadFactory("dra4j-" + name + "-call", true));
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(new DomainSocketAddress(file.hidden().toFile()))
                        .channelType(EpollServerDomainSocketChannel.class)
                        .bossEventLoopGroup(group)
                        .workerEventLoopGroup(group)
                        .executor(calls)
                        .maxInboundMessageSize(LARGEST_MESSAGE)
                        // gRPC asks for keep-alive, which a unix socket does not know: unset it
                        .withChildOption(ChannelOption.SO_KEEPALIVE, null);
        services.forEach(builder::addService);
        server = builder.build();
    }

    /**
     * Starts a server that answers on a hidden socket; {@link #publish} makes it known.
     *
     * @param path where it is published
     * @param hidden where it is bound
     * @throws DraException if the socket can't be bound
     */
    static SocketServer start(
            String name, Path path, Path hidden, List<ServerServiceDefinition> services) {
        if (!Epoll.isAvailable()) {
            throw new DraException(
                    "Unix sockets need Linux on x86-64 or arm64 with Netty's epoll library",
                    Epoll.unavailabilityCause());
        }
        SocketServer server = new SocketServer(name, new SocketFile(path, hidden), services);
        try {
            server.server.start();
            server.file.protect();
            return server;
        } catch (IOException e) {
            server.stop(Duration.ZERO);
            throw new DraException("Can't serve on the socket " + path + ": " + e.getCause(), e);
        } catch (DraException e) {
            server.stop(Duration.ZERO);
            throw e;
        }
    }

    /** Makes a group of one daemon thread. */
    static EventLoopGroup eventLoop(String thread) {
        return new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory(thread, true), EpollIoHandler.newFactory());
    }

    /** Returns the path at which the server answers until it is published. */
    Path hiddenPath() {
        return file.hidden();
    }

    void publish() {
        file.publish();
    }

    /** Lets calls in flight end, for some time, and removes the socket. */
    void stop(Duration grace) {
        server.shutdown();
        try {
            if (!server.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        calls.shutdown();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        file.remove();
    }
}
