// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Listens on a unix socket, as the {@link ServerSocket} that gRPC's transport needs. */
final class UnixServerSocket extends ServerSocket {

    /** Connections that the kernel keeps: a kubelet must find room behind a flood of others. */
    private static final int WAITING = 1024;

    private final ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);

    UnixServerSocket() throws IOException {}

    @Override
    public void bind(SocketAddress path) throws IOException {
        channel.bind(path, WAITING);
    }

    @Override
    public Socket accept() throws IOException {
        return Accepting.one(this, this::next);
    }

    private Socket next() throws IOException {
        SocketChannel connection = channel.accept();
        try {
            return new UnixSocket(connection);
        } catch (IOException e) {
            connection.close();
            throw e;
        }
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        try {
            return channel.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("The socket is closed", e);
        }
    }

    @Override
    public boolean isBound() {
        return true;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
        super.close();
    }
}
