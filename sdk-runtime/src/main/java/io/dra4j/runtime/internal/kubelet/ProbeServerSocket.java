// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Listens on a TCP port for few connections at once: one more closes the oldest.
 *
 * <p>Each connection has a thread, and all who reach the pod can connect. A probe takes a moment,
 * so that the oldest connection is none.
 */
final class ProbeServerSocket extends ServerSocket {

    static final int CONNECTIONS = 16;

    private final Deque<Socket> open = new ArrayDeque<>(); // only for the thread that accepts

    ProbeServerSocket() throws IOException {}

    @Override
    public Socket accept() throws IOException {
        Socket accepted = Accepting.one(this, super::accept);
        open.removeIf(Socket::isClosed);
        if (open.size() == CONNECTIONS) {
            open.removeFirst().close();
        }
        open.addLast(accepted);
        return accepted;
    }
}
