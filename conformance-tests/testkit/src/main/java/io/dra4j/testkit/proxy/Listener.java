// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.http.ServingTls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.jspecify.annotations.Nullable;

/** A port of 127.0.0.1 at which the proxy listens, unless it is down. For one thread at a time. */
final class Listener {

    private static final Duration HOLD_LIMIT = Duration.ofSeconds(5);
    private static final Duration HOLD_AGAIN = Duration.ofMillis(10);

    private final ClientConnector connector;
    private @Nullable Socket held; // Keeps the port while the proxy is down.

    private Listener(ClientConnector connector, int port) {
        this.connector = connector;
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        connector.setIdleTimeout(0); // Idle watches are the normal case.
        connector.getServer().addConnector(connector);
    }

    /** Adds a port of plain HTTP to a server; 0 for a free one. */
    static Listener plain(Server server, int port) {
        return new Listener(new ClientConnector(server, new HttpConnectionFactory(http())), port);
    }

    /** Adds a free port of HTTP by TLS to a server: HTTP/2 or HTTP/1.1, as the client chooses. */
    static Listener secure(Server server, ServingTls tls) {
        return new Listener(new ClientConnector(server, Connections.secure(tls, http())), 0);
    }

    private static HttpConfiguration http() {
        HttpConfiguration http = Connections.configuration();
        http.setSendDateHeader(false); // The API server's is sent on.
        return http;
    }

    /** The port, also while the proxy is down. */
    int port() {
        int port = connector.getLocalPort();
        return port > 0 ? port : connector.getPort();
    }

    /** Starts to listen where the server has started already. */
    void start() {
        try {
            connector.start();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy cannot listen on 127.0.0.1 by TLS", e);
        }
    }

    /** Lets nothing through on all connections that are open now. */
    void silence() {
        connector.silence();
    }

    /** Closes all connections, and refuses new ones. */
    void down() {
        int port = connector.getLocalPort();
        List<EndPoint> clients = List.copyOf(connector.getConnectedEndPoints());
        try {
            connector.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy did not stop listening cleanly", e);
        }
        clients.forEach(EndPoint::close);
        connector.setPort(port);
        held = hold(port);
    }

    /**
     * Binds the port without listening: connections are refused, and no other process gets it. A
     * selector may let go of the listening socket a moment after that was closed.
     */
    private static Socket hold(int port) {
        long end = System.nanoTime() + HOLD_LIMIT.toNanos();
        while (true) {
            try {
                Socket socket = new Socket();
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress("127.0.0.1", port));
                return socket;
            } catch (IOException e) {
                if (System.nanoTime() > end) {
                    throw new UncheckedIOException("the proxy cannot hold its port " + port, e);
                }
                LockSupport.parkNanos(HOLD_AGAIN.toNanos());
            }
        }
    }

    /**
     * Takes connections again, on the same port.
     *
     * @throws IllegalStateException if another process has taken the port
     */
    void up() {
        try {
            release();
            connector.start();
        } catch (Exception e) {
            throw new IllegalStateException(
                    "the proxy cannot listen on 127.0.0.1:%s again; has another process taken the port?"
                            .formatted(connector.getPort()),
                    e);
        }
    }

    /** Closes all connections, and takes new ones. */
    void closeConnections() {
        List.copyOf(connector.getConnectedEndPoints()).forEach(EndPoint::close);
    }

    /** Closes all connections, and lets go of a port that was held. */
    void close() throws IOException {
        closeConnections();
        release();
    }

    private void release() throws IOException {
        Socket port = held;
        held = null;
        if (port != null) {
            port.close();
        }
    }
}
