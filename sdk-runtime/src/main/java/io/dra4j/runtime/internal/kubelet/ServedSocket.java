// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.LogField;
import io.grpc.ServerServiceDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket that is served again when its file is gone.
 *
 * <p>A server goes on when its file is removed, but no kubelet finds it. A new one takes its place,
 * and the old one ends with its calls. A file is gone if two looks in a row find none: a successor
 * that starts replaces it, and there is none for a moment. Thread-safe.
 */
final class ServedSocket {

    private static final Logger LOG = LoggerFactory.getLogger(ServedSocket.class);

    private final String name;
    private final Path path;
    private final PluginSockets sockets;
    private final List<ServerServiceDefinition> services;
    private final List<SocketServer> retired = new ArrayList<>(); // guarded by this, as are the next
    private SocketServer server;
    private boolean wasGone;
    private boolean isStopped;

    /**
     * Starts to answer on a hidden socket.
     *
     * @throws DraException if it can't be bound
     */
    ServedSocket(String name, Path path, PluginSockets sockets, List<ServerServiceDefinition> services) {
        this.name = name;
        this.path = path;
        this.sockets = sockets;
        this.services = services;
        this.server = start();
    }

    private SocketServer start() {
        return SocketServer.start(name, path, sockets.hidden(path), services);
    }

    /** Returns the path at which the server answers until it is published. */
    synchronized Path hiddenPath() {
        return server.hiddenPath();
    }

    synchronized void publish() {
        server.publish();
    }

    /**
     * Looks whether the file is there.
     *
     * @throws DraException if it is gone, and can't be made again
     */
    synchronized void look() {
        boolean isGone = !isStopped && server.isGone();
        if (isGone && wasGone) {
            serveAgain();
        }
        wasGone = isGone;
        retired.removeIf(SocketServer::hasEnded);
    }

    private void serveAgain() {
        SocketServer next = start();
        boolean isPublished = false; // unless another process of the driver is faster
        try {
            isPublished = next.publishIfFree();
        } finally {
            if (!isPublished) {
                next.stop(Duration.ZERO);
            }
        }
        if (isPublished) {
            server.retire();
            retired.add(server);
            server = next;
            LOG.atWarn().addKeyValue(LogField.SOCKET, path).log("The driver's socket was gone, and is served again");
        }
    }

    /** Lets calls in flight end, for some time, and removes the socket. */
    synchronized void stop(Duration grace) {
        isStopped = true;
        server.stop(grace);
        retired.forEach(old -> old.stop(Duration.ZERO));
    }
}
