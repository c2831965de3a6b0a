// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.http.ServingTls;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/** A port of 127.0.0.1 at which the proxy listens, unless it is down. For one thread at a time. */
final class Listener {

    private static final Duration REFUSE_LIMIT = Duration.ofSeconds(5);
    private static final Duration REFUSE_AGAIN = Duration.ofMillis(10);

    private final ClientConnector connector;
    private final HeldPort held;

    private Listener(ClientConnector connector, int port) {
        this.connector = connector;
        held = HeldPort.hold(port);
        connector.setHost("127.0.0.1");
        connector.setPort(port());
        connector.setReusePort(true);
        connector.setIdleTimeout(0); // Idle watches are the normal case.
        connector.getServer().addConnector(connector);
    }

    /** Adds a port of plain HTTP to a server; 0 for a free one. */
    static Listener plain(Server server, int port) {
        return new Listener(new ClientConnector(server, new HttpConnectionFactory(http())), port);
    }

    /** Adds a free port of HTTP over TLS to a server: HTTP/2 or HTTP/1.1, as the client chooses. */
    static Listener secure(Server server, ServingTls tls) {
        return new Listener(new ClientConnector(server, Connections.secure(tls, http())), 0);
    }

    private static HttpConfiguration http() {
        HttpConfiguration http = Connections.configuration();
        http.setSendDateHeader(false); // The API server's header is forwarded.
        return http;
    }

    /** The port, even while the proxy is down. */
    int port() {
        return held.address().getPort();
    }

    /** Starts to listen if the server has already started. */
    void start() {
        try {
            connector.start();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy cannot listen on 127.0.0.1 by TLS", e);
        }
    }

    void silence() {
        connector.silence();
    }

    /** Closes all connections, and refuses new ones. */
    void down() {
        List<EndPoint> clients = List.copyOf(connector.getConnectedEndPoints());
        try {
            connector.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy did not stop listening cleanly", e);
        }
        clients.forEach(EndPoint::close);
        awaitRefusal();
    }

    /** A selector may release the listening socket shortly after it was closed. */
    private void awaitRefusal() {
        long end = System.nanoTime() + REFUSE_LIMIT.toNanos();
        while (System.nanoTime() < end) {
            try {
                new Socket(held.address().getAddress(), port()).close();
                LockSupport.parkNanos(REFUSE_AGAIN.toNanos());
            } catch (IOException e) {
                return;
            }
        }
        throw new IllegalStateException("the proxy still listens on 127.0.0.1:" + port());
    }

    void up() {
        try {
            connector.start();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy cannot listen on 127.0.0.1:%s again".formatted(port()), e);
        }
    }

    void closeConnections() {
        List.copyOf(connector.getConnectedEndPoints()).forEach(EndPoint::close);
    }

    /** Closes all connections, and releases the port. */
    void close() throws IOException {
        closeConnections();
        held.close();
    }

    /** A connector whose open connections can go silent, below TLS and HTTP. */
    private static final class ClientConnector extends ServerConnector {

        ClientConnector(Server server, ConnectionFactory... factories) {
            super(server, 1, 1, factories);
        }

        /** Blocks the connections that are open now without notifying either end. */
        void silence() {
            getConnectedEndPoints().forEach(endPoint -> ((Connection) endPoint).silent = true);
        }

        @Override
        protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
            Connection connection = new Connection(channel, selector, key, getScheduler());
            connection.setIdleTimeout(getIdleTimeout());
            return connection;
        }

        private static final class Connection extends SocketChannelEndPoint {

            private static final int PIECE = 8192;

            private volatile boolean silent;

            Connection(SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
                super(channel, selector, key, scheduler);
            }

            @Override
            public int fill(ByteBuffer buffer) throws IOException {
                if (!silent) {
                    return super.fill(buffer);
                }
                ByteBuffer lost = BufferUtil.allocate(PIECE);
                int filled = super.fill(lost);
                while (filled > 0) {
                    BufferUtil.clear(lost);
                    filled = super.fill(lost);
                }
                return filled;
            }

            @Override
            public boolean flush(ByteBuffer... buffers) throws IOException {
                if (!silent) {
                    return super.flush(buffers);
                }
                for (ByteBuffer buffer : buffers) {
                    BufferUtil.clear(buffer);
                }
                return true;
            }
        }
    }
}
