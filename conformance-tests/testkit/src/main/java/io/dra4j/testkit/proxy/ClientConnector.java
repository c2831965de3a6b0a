// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/** A connector whose open connections can go silent, below TLS and HTTP. */
final class ClientConnector extends ServerConnector {

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
