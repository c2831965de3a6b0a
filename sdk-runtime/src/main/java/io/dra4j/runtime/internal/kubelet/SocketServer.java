// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import com.google.protobuf.MessageLite;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.kubelet.UnixSocket.UnixServerSocket;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC server on a unix socket, as the kubelet expects one.
 *
 * <p>Each call runs on its own thread, so that a call that hangs delays no other. The threads are not virtual, nor are
 * those of the connections: stalled files elsewhere block the carriers of virtual threads. Connections are never closed
 * because of their age or idleness: the kubelet treats a lost connection as a lost plugin.
 */
final class SocketServer {

    /** The threads of all sockets: idle ones of one serve another. */
    static final Executor THREADS = ShortLivedThreads.unlimited("dra4j-grpc");

    private static final int LARGEST_MESSAGE = 4 * 1024 * 1024;

    /** A message up to this size is read, so that it can be refused with an explanation. */
    private static final int LARGEST_READ = 2 * LARGEST_MESSAGE;

    private final SocketFile file;
    private final Server server;

    private SocketServer(SocketFile file, List<ServerServiceDefinition> services) {
        this.file = file;
        OkHttpServerBuilder builder = OkHttpServerBuilder.forPort(
                        UnixDomainSocketAddress.of(file.hidden()), InsecureServerCredentials.create())
                .socketFactory(Accepting.of(UnixServerSocket::new))
                .executor(THREADS)
                .transportExecutor(Accepting.threads(THREADS))
                .scheduledExecutorService(ShortLivedThreads.clock())
                .keepAliveTime(Long.MAX_VALUE, TimeUnit.NANOSECONDS) // of no use on a node
                .intercept(new MessageLimit(LARGEST_MESSAGE))
                .maxInboundMessageSize(LARGEST_READ);
        services.forEach(builder::addService);
        server = builder.build();
    }

    /**
     * Starts a server on a hidden socket; {@link SocketFile#publish} makes it visible.
     *
     * @param path where it is published
     * @param hidden where it is bound
     * @throws DraException if the socket can't be bound
     */
    static SocketServer start(Path path, Path hidden, List<ServerServiceDefinition> services) {
        SocketServer server = new SocketServer(new SocketFile(path, hidden), services);
        boolean isStarted = false;
        try {
            server.server.start();
            server.file.protect();
            isStarted = true;
            return server;
        } catch (IOException e) {
            throw new DraException("Can't serve on the socket " + path + ": " + e, e);
        } finally {
            if (!isStarted) {
                server.stop(Duration.ZERO);
            }
        }
    }

    SocketFile file() {
        return file;
    }

    /** Lets calls in flight end, without a limit; the file belongs to another server from now on. */
    void retire() {
        file.leave();
        server.shutdown();
    }

    /** Returns whether all calls have ended since the server was retired or stopped. */
    boolean hasEnded() {
        return server.isTerminated();
    }

    /** Lets calls in flight end, for some time, and removes the socket. */
    void stop(Duration grace) {
        server.shutdown();
        try {
            if (!server.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        file.remove();
    }

    /**
     * Refuses messages that are too large with RESOURCE_EXHAUSTED and their size, as gRPC specifies.
     *
     * <p>The OkHttp transport resets a call instead, which its caller sees as an internal error.
     */
    private record MessageLimit(int bytes) implements ServerInterceptor {

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {

                private boolean refused;

                @Override
                public void onMessage(Q message) {
                    int size = message instanceof MessageLite m ? m.getSerializedSize() : 0;
                    if (size > bytes) {
                        refused = true;
                        call.close(tooLarge(size), new Metadata());
                    } else {
                        super.onMessage(message);
                    }
                }

                @Override
                public void onHalfClose() {
                    if (!refused) {
                        super.onHalfClose();
                    }
                }
            };
        }

        private Status tooLarge(int size) {
            return Status.RESOURCE_EXHAUSTED.withDescription(
                    "gRPC message exceeds maximum size %s: %s".formatted(bytes, size));
        }
    }
}
