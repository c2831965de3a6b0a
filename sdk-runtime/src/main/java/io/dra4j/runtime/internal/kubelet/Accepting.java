// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Accepts connections until the socket is closed, despite any failure.
 *
 * <p>gRPC's transport ends its server permanently at the first error of an accept, for instance when the process is
 * briefly out of file descriptors or threads.
 */
final class Accepting {

    private static final Logger LOG = LoggerFactory.getLogger(Accepting.class);
    private static final Executor LOOPS = ShortLivedThreads.waiting("dra4j-accept");
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1); // a probe waits longer

    private Accepting() {}

    /** Waits for one connection. */
    interface Attempt {
        Socket accept() throws IOException;
    }

    /**
     * Returns the next connection; after an error waits for a moment and tries again.
     *
     * @throws IOException if the socket is closed
     */
    static Socket one(ServerSocket socket, Attempt attempt) throws IOException {
        long pause = PAUSE;
        while (true) {
            try {
                return attempt.accept();
            } catch (IOException e) {
                if (socket.isClosed()) {
                    throw e;
                }
                pause = pause(pause, "Could not accept a connection; trying again", e);
            }
        }
    }

    /** Waits after a failure, of which only the first in a row is a warning; returns how long to wait after the next. */
    private static long pause(long time, String failure, Throwable cause) {
        LOG.atLevel(time == PAUSE ? Level.WARN : Level.DEBUG).setCause(cause).log(failure);
        LockSupport.parkNanos(time);
        return Math.min(2 * time, LONGEST_PAUSE);
    }

    /**
     * Returns the threads of a transport. Its first task is its accept loop, which gets a virtual thread if the JVM has
     * them, so that an idle listening socket takes no thread. While the process has no more threads, the loop waits with
     * the connection that it has accepted.
     */
    static Executor threads(Executor connections) {
        AtomicBoolean hasLoop = new AtomicBoolean();
        AtomicReference<@Nullable Thread> loop = new AtomicReference<>();
        return task -> {
            if (!hasLoop.getAndSet(true)) {
                LOOPS.execute(() -> {
                    loop.set(Thread.currentThread());
                    task.run();
                });
            } else if (Thread.currentThread() == loop.get()) {
                begin(connections, task);
            } else {
                connections.execute(task); // an error ends only its connection
            }
        };
    }

    private static void begin(Executor connections, Runnable task) {
        long pause = PAUSE;
        while (true) {
            try {
                connections.execute(task);
                return;
            } catch (OutOfMemoryError e) {
                pause = pause(pause, "No thread for a connection; trying again", e);
            }
        }
    }

    /** Creates one kind of server socket, which gRPC's transport binds itself. */
    static ServerSocketFactory of(Kind kind) {
        return new Factory(kind);
    }

    /** A kind of server socket, not yet bound. */
    interface Kind {
        ServerSocket open() throws IOException;
    }

    private static final class Factory extends ServerSocketFactory {

        private final Kind kind;

        Factory(Kind kind) {
            this.kind = kind;
        }

        @Override
        public ServerSocket createServerSocket() throws IOException {
            return kind.open();
        }

        @Override
        public ServerSocket createServerSocket(int port) {
            throw new UnsupportedOperationException("The transport binds the socket itself");
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog) {
            return createServerSocket(port);
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog, InetAddress address) {
            return createServerSocket(port);
        }
    }
}
