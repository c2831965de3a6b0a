// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Connections to unix sockets, with the {@code :authority} values of the kubelet.
 *
 * <p>All share a few threads, because a run connects thousands of times. Thread-safe.
 */
final class SocketChannels implements AutoCloseable {

    /**
     * gRPC logs cut connections and hostile input to these loggers, also for a driver in this JVM. They are kept here,
     * because a logger without a reference loses its level.
     */
    private static final List<Logger> QUIET = List.of(
            quiet("io.grpc", Level.WARNING),
            quiet("io.grpc.okhttp", Level.OFF),
            quiet("io.grpc.internal.SerializingExecutor", Level.OFF));

    private static final EventLoopGroup IO = new MultiThreadIoEventLoopGroup(
            new DefaultThreadFactory("fake-kubelet-io", true), EpollIoHandler.newFactory());

    private final Set<ManagedChannel> opened = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Does not change what a vendor's tests have configured. */
    private static Logger quiet(String name, Level level) {
        Logger logger = Logger.getLogger(name);
        if (logger.getLevel() == null) {
            logger.setLevel(level);
        }
        return logger;
    }

    /** Connects as the kubelet does to a registration socket: authority is the encoded path. */
    ManagedChannel toRegistration(Path socket) {
        return open(socket, encoded(socket));
    }

    /** The authority that grpc-go derives from a path. */
    static String encoded(Path socket) {
        return URLEncoder.encode(socket.toString(), StandardCharsets.UTF_8);
    }

    /** Connects as the kubelet does to a service socket: authority is {@code localhost}. */
    ManagedChannel toService(Path socket) {
        return open(socket, "localhost");
    }

    ManagedChannel open(Path socket, String authority) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(IO)
                .withOption(ChannelOption.SO_KEEPALIVE, null) // unix sockets lack it
                .overrideAuthority(authority)
                .usePlaintext()
                .build();
        opened.removeIf(ManagedChannel::isShutdown);
        opened.add(channel);
        if (closed) {
            channel.shutdownNow(); // the call began while the others were being closed
        }
        return channel;
    }

    /** Waits until a channel is connected, and returns whether it is. */
    static boolean connect(ManagedChannel channel, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        ConnectivityState state = channel.getState(true);
        while (state != ConnectivityState.READY) {
            CountDownLatch changed = new CountDownLatch(1);
            channel.notifyWhenStateChanged(state, changed::countDown);
            if (!changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return false;
            }
            state = channel.getState(true);
        }
        return true;
    }

    @Override
    public void close() {
        closed = true;
        opened.forEach(ManagedChannel::shutdownNow);
    }
}
