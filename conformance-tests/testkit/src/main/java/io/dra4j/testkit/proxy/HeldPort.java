// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;

/**
 * A port of 127.0.0.1 that no other process gets, whether or not this one listens on it.
 *
 * <p>A socket is bound to it and never listens; the ones that listen also have SO_REUSEPORT, and sockets without it
 * cannot be bound.
 */
record HeldPort(Socket socket) implements Closeable {

    /** Holds a port, 0 for a free one; IllegalStateException if another socket uses it. */
    static HeldPort hold(int port) {
        Socket socket = new Socket();
        try {
            socket.setReuseAddress(true); // connections of an earlier process may wait for their end
            socket.bind(new InetSocketAddress("127.0.0.1", port));
            socket.setReuseAddress(false);
            socket.setOption(StandardSocketOptions.SO_REUSEPORT, true); // not before bind
            return new HeldPort(socket);
        } catch (IOException e) {
            TcpConnection.close(socket, false);
            throw new IllegalStateException("the proxy cannot listen on 127.0.0.1:" + port + "; is the port taken?", e);
        }
    }

    InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
