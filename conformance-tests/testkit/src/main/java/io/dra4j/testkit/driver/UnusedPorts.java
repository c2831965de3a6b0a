// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports of 127.0.0.1 for servers that start later, and start again.
 *
 * <p>They lie below those that Linux gives to outgoing connections by default (32768 and above),
 * one of which could take the port while the server is down, and below the NodePorts of Kubernetes.
 */
public final class UnusedPorts {

    private static final int FIRST = 10_000;
    private static final int COUNT = 20_000;

    private static final AtomicInteger NEXT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

    private UnusedPorts() {}

    /**
     * Returns a port on which nothing listens, and which was not returned before.
     *
     * @throws UncheckedIOException if there is none
     */
    public static int next() {
        for (int i = 0; i < COUNT; i++) {
            int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), COUNT);
            if (isUnused(port)) {
                return port;
            }
        }
        IOException none = new IOException("No port of 127.0.0.1 from 10000 to 29999 is free");
        throw new UncheckedIOException("Can't find a free port", none);
    }

    private static boolean isUnused(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
