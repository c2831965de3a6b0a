// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Forwards the bytes of connections from a port of 127.0.0.1 to a server, TLS and HTTP/2 included,
 * and lets single connections go silent, slow down or end as TCP connections can, while others work.
 * Thread-safe; {@link #close} ends all connections.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int BACKLOG = 1024;

    private final HeldPort port = HeldPort.hold(0);
    private final List<TcpConnection> connections = new ArrayList<>(); // guarded by this
    private final URI server;
    private @Nullable ServerSocket listening; // guarded by this
    private int acceptors; // guarded by this; threads that hold the port open

    private TcpProxy(URI server) throws IOException {
        this.server = server;
        listen();
    }

    /**
     * Starts a proxy on a free port.
     *
     * @param server its scheme, host and port, for example {@code https://127.0.0.1:41235}
     * @throws UncheckedIOException if it cannot listen
     */
    public static TcpProxy before(URI server) {
        try {
            return new TcpProxy(server);
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy can't listen on 127.0.0.1", e);
        }
    }

    private synchronized void listen() throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
        socket.bind(port.address(), BACKLOG);
        listening = socket;
        acceptors++;
        TcpPump.thread(() -> acceptAll(socket));
    }

    private void acceptAll(ServerSocket socket) {
        while (true) {
            try {
                add(new TcpConnection(socket.accept()));
            } catch (IOException e) {
                acceptorEnded(); // It refuses connections, or is closed.
                return;
            }
        }
    }

    private synchronized void acceptorEnded() {
        acceptors--;
        notifyAll();
    }

    /** Stops listening, which a socket does only once no thread waits for it. */
    private void stopListening() throws IOException {
        if (listening != null) {
            listening.close();
            listening = null;
        }
        try {
            while (acceptors > 0) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void add(TcpConnection connection) {
        if (listening == null) {
            connection.reset(); // It was accepted a moment too late.
            return;
        }
        connections.add(connection);
        connection.start(new InetSocketAddress(server.getHost(), server.getPort()));
        notifyAll();
    }

    /** The port, even while it refuses connections. */
    public int port() {
        return port.address().getPort();
    }

    /** The server's URL with the proxy's port. */
    public URI url() {
        return URI.create(server.getScheme() + "://127.0.0.1:" + port());
    }

    /** All connections so far, in the order of their start, including those that have ended. */
    public synchronized List<TcpConnection> connections() {
        return List.copyOf(connections);
    }

    /**
     * Waits until a number of connections have been opened, and returns all of them.
     *
     * @throws AssertionError on a timeout
     */
    public synchronized List<TcpConnection> awaitConnections(int number, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (connections.size() < number) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new AssertionError("%d connections were opened within %s, not %d"
                            .formatted(connections.size(), limit, number));
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for connections", e);
        }
        return connections();
    }

    /** Silences all connections that are open now, in both directions; new ones work. */
    public void silenceAll() {
        connections().forEach(TcpConnection::silence);
    }

    /** Refuses new connections; open ones continue. */
    public synchronized void refuse() {
        try {
            stopListening();
            while (isReached()) {
                Thread.onSpinWait(); // a process that is being started has inherited the socket, and closes it soon
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy does not stop listening on 127.0.0.1:" + port(), e);
        }
    }

    private boolean isReached() throws IOException {
        try (Socket probe = new Socket()) {
            probe.connect(port.address());
            return true;
        } catch (ConnectException e) {
            return false;
        } catch (SocketException e) {
            return true; // reset: the socket was closed while this connection waited in its queue
        }
    }

    /** Accepts new connections again. */
    public synchronized void accept() {
        try {
            if (listening == null) {
                listen();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy can't listen on 127.0.0.1:" + port() + " again", e);
        }
    }

    @Override
    public synchronized void close() {
        try {
            stopListening();
            port.close();
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy does not stop", e);
        } finally {
            connections.forEach(TcpConnection::close);
        }
    }
}
