// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** One socket: bound under a hidden name, renamed when it answers, removed if it is still ours. */
class SocketServer {

    /** Shared by all drivers in this JVM, since a driver of hundreds lives for a second. */
    private static final EventLoopGroup IO = new MultiThreadIoEventLoopGroup(
            Life.current().socketThreads(), new DefaultThreadFactory("io", true), EpollIoHandler.newFactory());

    Path path;
    private final Connections connections = new Connections();
    private final ExecutorService calls = Executors.newCachedThreadPool(Life.current()::thread);
    private Server server;
    private Object inode = "";

    /** Sets the place of the socket. */
    SocketServer at(Path place) {
        path = place;
        return this;
    }

    void start(List<BindableService> services) throws IOException {
        Life.current().closesAtEnd(this::cut);
        Path hidden = hidden();
        Files.deleteIfExists(hidden);
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new DomainSocketAddress(hidden.toFile()))
                .channelFactory(connections::listener)
                .bossEventLoopGroup(IO)
                .workerEventLoopGroup(IO)
                .executor(calls)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null);
        services.forEach(builder::addService);
        configure(builder);
        server = builder.build().start();
        protect(hidden);
        inode = Files.getAttribute(hidden, "unix:ino");
        publish(hidden);
    }

    Path hidden() {
        return path.resolveSibling(".b" + Life.current().number());
    }

    void configure(NettyServerBuilder builder) {}

    void protect(Path socket) throws IOException {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
    }

    void publish(Path hidden) throws IOException {
        if (Files.isDirectory(path)) {
            throw new IOException("There is a directory at " + path);
        }
        Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
    }

    private void cut() {
        connections.cut();
        calls.shutdownNow();
    }

    /** Lets the calls end, for some time. */
    void stop(long graceMillis) {
        if (server == null) {
            return;
        }
        server.shutdown();
        try {
            if (!server.awaitTermination(graceMillis, TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
                server.awaitTermination(500, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        remove();
    }

    void remove() {
        try {
            if (Files.exists(path) && Files.getAttribute(path, "unix:ino").equals(inode)) {
                Files.delete(path);
            }
        } catch (IOException e) {
            Life.current().log("Can't remove " + path + ": " + e);
        }
    }

    /** A socket and the connections to it, which can be cut as the end of a process cuts them. */
    @Sharable
    private static final class Connections extends ChannelInboundHandlerAdapter {

        private final Set<Channel> open = ConcurrentHashMap.newKeySet();
        private volatile boolean cut;

        /** Makes the socket. */
        ServerChannel listener() {
            ServerChannel listener = new EpollServerDomainSocketChannel();
            listener.pipeline().addFirst(this);
            open.add(listener);
            return listener;
        }

        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            registered(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object accepted) {
            Channel connection = (Channel) accepted;
            open.add(connection);
            connection.closeFuture().addListener(end -> open.remove(connection));
            connection.pipeline().addFirst(new Late());
            context.fireChannelRead(accepted);
        }

        /** A connection that is accepted during the cut. */
        private final class Late extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                registered(context);
            }
        }

        private void registered(ChannelHandlerContext context) {
            context.fireChannelRegistered();
            if (cut) {
                hangUp(context.channel());
            }
        }

        /** Hangs up without a word, which the protocol's handlers would have. */
        void cut() {
            cut = true;
            List<Channel> registered =
                    open.stream().filter(Channel::isRegistered).toList();
            registered.forEach(Connections::hangUp);
            registered.forEach(each -> each.closeFuture().awaitUninterruptibly());
        }

        private static void hangUp(Channel channel) {
            channel.eventLoop().execute(() -> channel.unsafe().close(channel.voidPromise()));
        }
    }
}
