// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;

/**
 * One TCP connection through a {@link TcpProxy}, from its client to the server. Thread-safe.
 *
 * <p>Its faults do not affect others.
 */
public final class TcpConnection {

    /** The direction of bytes. */
    public enum Direction {
        TO_SERVER,
        TO_CLIENT
    }

    private final Socket client;
    private final Socket server = new Socket();
    private final TcpPump toServer;
    private final TcpPump toClient;

    TcpConnection(Socket client) {
        this.client = client;
        toServer = new TcpPump(client, server);
        toClient = new TcpPump(server, client);
    }

    /** Connects to the server, and passes bytes in both directions. */
    void start(SocketAddress target) {
        TcpPump.thread(() -> {
            try {
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                server.connect(target);
                TcpPump.thread(() -> pass(toClient));
            } catch (IOException e) {
                reset();
                return;
            }
            pass(toServer);
        });
    }

    private void pass(TcpPump pump) {
        try {
            pump.run();
            if (toServer.isOver() && toClient.isOver()) {
                close();
            }
        } catch (IOException e) {
            reset();
        }
    }

    private TcpPump pump(Direction direction) {
        return direction == Direction.TO_SERVER ? toServer : toClient;
    }

    /**
     * From now on, nothing that either end sends arrives, not even the end of the connection, and neither end is
     * notified: as behind a load balancer that has forgotten the connection. Permanent.
     */
    public void silence() {
        toServer.drop();
        toClient.drop();
    }

    /** The same for one direction. */
    public void silence(Direction direction) {
        pump(direction).drop();
    }

    /** Leaves what both ends send unread, so that they can't send more once buffers are full. */
    public void hold() {
        toServer.hold();
        toClient.hold();
    }

    /** The same for one direction. */
    public void hold(Direction direction) {
        pump(direction).hold();
    }

    /** Passes on what was held, and what follows. */
    public void resume() {
        toServer.resume();
        toClient.resume();
    }

    /** Resets the connection at both ends (RST): unread bytes are lost. */
    public void reset() {
        end(true);
    }

    /** Tells the receiver of a direction that nothing more comes (FIN); the other direction continues. */
    public void halfClose(Direction direction) {
        try {
            pump(direction).halfClose();
        } catch (IOException e) {
            throw new UncheckedIOException("The connection is closed", e);
        }
    }

    /** Limits the bytes that pass in each direction per second. */
    public void slow(long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException(bytesPerSecond + " bytes per second: use hold() to pass none on");
        }
        toServer.slow(bytesPerSecond);
        toClient.slow(bytesPerSecond);
    }

    /** The number of bytes read from the sender of a direction, whether or not they were passed on. */
    public long received(Direction direction) {
        return pump(direction).received();
    }

    /** Returns whether the client has not ended it, unless what it sends is held. */
    public boolean isOpen() {
        return !toServer.hasSenderEnded();
    }

    /** Waits until the client has ended it, or it was reset; returns false on a timeout. */
    public boolean awaitEnd(Duration limit) {
        try {
            return toServer.awaitSenderEnd(limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    void close() {
        end(false);
    }

    private void end(boolean reset) {
        toServer.stop();
        toClient.stop();
        close(client, reset);
        close(server, reset);
    }

    static void close(Socket end, boolean reset) {
        try (end) {
            if (reset) {
                end.setSoLinger(true, 0);
            }
        } catch (IOException e) {
            // It was closed already.
        }
    }
}
