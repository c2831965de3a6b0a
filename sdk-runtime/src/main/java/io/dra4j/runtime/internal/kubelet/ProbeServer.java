// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers a pod's gRPC probes on a TCP port, from {@link #start} to {@link #close}.
 *
 * <p>All who reach the pod can call it: one check runs at a time, requests are tiny, and
 * connections that send nothing are closed.
 */
public final class ProbeServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ProbeServer.class);
    private static final int LARGEST_MESSAGE = 1024;
    private static final int CHECKS_PER_CONNECTION = 4;
    private static final int IDLE_MINUTES = 5;

    private final EventLoopGroup group = SocketServer.eventLoop("dra4j-probe-io");
    private final ExecutorService check =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("dra4j-probe", true));
    private final Server server;

    private ProbeServer(PluginSockets sockets, int port, BooleanSupplier needsRestart) {
        server =
                NettyServerBuilder.forAddress(new InetSocketAddress(port))
                        .channelType(EpollServerSocketChannel.class)
                        .bossEventLoopGroup(group)
                        .workerEventLoopGroup(group)
                        .executor(check)
                        .maxInboundMessageSize(LARGEST_MESSAGE)
                        .maxConcurrentCallsPerConnection(CHECKS_PER_CONNECTION)
                        .maxConnectionIdle(IDLE_MINUTES, TimeUnit.MINUTES)
                        .addService(
                                new ProbeService(
                                        sockets.registration(), sockets.service(), needsRestart))
                        .build();
    }

    /**
     * Begins to answer on all addresses of the pod.
     *
     * @param port the port; 0 for any that is free
     * @param needsRestart whether only a restart of the process helps; returns at once
     * @throws DraException if the port can't be had
     */
    public static ProbeServer start(PluginSockets sockets, int port, BooleanSupplier needsRestart) {
        ProbeServer probes = new ProbeServer(sockets, port, needsRestart);
        try {
            probes.server.start();
            LOG.atInfo().log("Answering health checks on port {}", probes.port());
            return probes;
        } catch (IOException e) {
            probes.close();
            throw new DraException(
                    "Can't answer health checks on port %s; choose a port that is free: %s"
                            .formatted(port, e.getCause()),
                    e);
        }
    }

    /** Returns the port. */
    public int port() {
        return server.getPort();
    }

    /** Ends at once: a probe that gets no answer is what a driver that stops wants. */
    @Override
    public void close() {
        server.shutdownNow();
        check.shutdown();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
