// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse.ServingStatus;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers a pod's gRPC probes on a TCP port, from {@link #start} to {@link #close}.
 *
 * <p>Anyone who can reach the pod can call it: one check runs at a time, requests are tiny, and
 * connections that send nothing are closed, as is the oldest of many.
 */
public final class ProbeServer implements AutoCloseable {

    static final int CONNECTIONS = 16;
    private static final Logger LOG = LoggerFactory.getLogger(ProbeServer.class);
    private static final int LARGEST_MESSAGE = 1024;
    private static final int CHECKS_PER_CONNECTION = 4;
    private static final int IDLE_MINUTES = 5;

    private final Server server;

    private ProbeServer(PluginSockets sockets, int port, BooleanSupplier needsRestart) {
        server = OkHttpServerBuilder.forPort(port, InsecureServerCredentials.create())
                .socketFactory(Accepting.of(FewConnections::new))
                .executor(ShortLivedThreads.single("dra4j-probe"))
                .transportExecutor(Accepting.threads(SocketServer.THREADS))
                .scheduledExecutorService(ShortLivedThreads.clock())
                .maxInboundMessageSize(LARGEST_MESSAGE)
                .maxConcurrentCallsPerConnection(CHECKS_PER_CONNECTION)
                .maxConnectionIdle(IDLE_MINUTES, TimeUnit.MINUTES)
                .addService(new ProbeService(sockets, needsRestart))
                .build();
    }

    /**
     * Starts serving on all addresses of the pod.
     *
     * @param port the port; 0 for any that is free
     * @param needsRestart whether the process must be restarted; returns immediately
     * @throws DraException if the port is not available
     */
    public static ProbeServer start(PluginSockets sockets, int port, BooleanSupplier needsRestart) {
        ProbeServer probes = new ProbeServer(sockets, port, needsRestart);
        try {
            probes.server.start();
            LOG.atInfo().log("Answering health checks on port {}", probes.port());
            return probes;
        } catch (IOException e) {
            probes.close();
            throw new DraException(
                    "Can't answer health checks on port %s; choose a port that is free: %s".formatted(port, e), e);
        }
    }

    public int port() {
        return server.getPort();
    }

    /** Ends immediately: a driver that stops wants its probes to fail. */
    @Override
    public void close() {
        server.shutdownNow();
    }

    /**
     * Checks that the driver works by calling it as the kubelet does: both sockets, over new connections, without side
     * effects. A driver that needs a restart is reported as not serving.
     *
     * <p>One thread runs it. The first failed call is logged, and so is the next that succeeds.
     */
    private static final class ProbeService extends HealthGrpc.HealthImplBase {

        /** The service names that probes ask for: the whole server, and the one in manifests of Go drivers. */
        private static final Set<String> SERVICES = Set.of("", "liveness");

        private static final Duration LIMIT = Duration.ofSeconds(5);

        private final PluginSockets sockets;
        private final BooleanSupplier needsRestart;
        private boolean failed;

        ProbeService(PluginSockets sockets, BooleanSupplier needsRestart) {
            this.sockets = sockets;
            this.needsRestart = needsRestart;
        }

        @Override
        public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
            if (!SERVICES.contains(request.getService())) {
                response.onError(Status.NOT_FOUND
                        .withDescription("ask for the service \"\" or \"liveness\"")
                        .asRuntimeException());
                return;
            }
            boolean isServing = !needsRestart.getAsBoolean() && answers();
            ServingStatus status = isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
            response.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
            response.onCompleted();
        }

        private boolean answers() {
            try {
                new SelfCall(sockets, LIMIT).toBoth(sockets.registration(), sockets.service());
                if (failed) {
                    LOG.atInfo().log("Health checks succeed again");
                }
                failed = false;
                return true;
            } catch (DraException e) {
                if (!failed) {
                    LOG.atWarn().setCause(e).log("Health checks fail");
                }
                failed = true;
                return false;
            }
        }
    }

    /**
     * Listens on a TCP port for a few simultaneous connections: one more closes the oldest.
     *
     * <p>Each connection has a thread, and anyone who can reach the pod can connect. A probe is quick, so the oldest
     * connection is not one.
     */
    private static final class FewConnections extends ServerSocket {

        private final Deque<Socket> open = new ArrayDeque<>(); // only for the thread that accepts

        FewConnections() throws IOException {}

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
}
