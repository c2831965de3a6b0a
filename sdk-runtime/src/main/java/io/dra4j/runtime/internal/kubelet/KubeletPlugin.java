// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.Device;
import io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesResponse;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.dra4j.kubelet.registration.v1.RegistrationStatusResponse;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver as the kubelet sees it: a registration socket and a service socket.
 *
 * <p>The service socket answers before the registration socket appears. Sockets of others are never
 * touched. If one of its own sockets is removed, {@link #look} serves it again. Thread-safe.
 */
public final class KubeletPlugin implements AutoCloseable {

    private static final String TYPE = "DRAPlugin";
    private static final List<String> VERSIONS = List.of("v1.DRAPlugin", "v1beta1.DRAPlugin");
    private static final List<String> HEALTH_VERSIONS = List.of("v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth");
    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final Duration FIRST_CALL = Duration.ofSeconds(20);

    private final ServedSocket service;
    private final ServedSocket registrar;
    private final RegistrationService registration;
    private final @Nullable HealthFeed health;

    private KubeletPlugin(
            ServedSocket service,
            ServedSocket registrar,
            RegistrationService registration,
            @Nullable HealthFeed health) {
        this.service = service;
        this.registrar = registrar;
        this.registration = registration;
        this.health = health;
    }

    /**
     * Begins to serve on hidden sockets, where no kubelet looks: on return both answer, and {@link
     * #publish} makes them known.
     *
     * @param health the feed of devices' health, closed with the plugin; {@code null} if the provider reports none, and
     *     the kubelet's call is then answered as unimplemented
     * @throws DraException if a socket can't be served; then, as after any failure, neither is, and the health feed is
     *     closed
     */
    public static KubeletPlugin start(
            PluginSockets sockets,
            ClaimOperations operations,
            @Nullable HealthFeed health,
            Meters meters,
            InstantSource clock) {
        Deque<ServedSocket> started = new ArrayDeque<>();
        boolean isStarted = false;
        try {
            Path path = sockets.service();
            RegistrationService registration =
                    new RegistrationService(info(sockets.driverName(), path, health != null), meters);
            new StaleSockets(sockets, clock).remove();
            ServedSocket service = new ServedSocket(path, sockets, services(operations, health, clock, meters));
            started.push(service);
            ServedSocket registrar =
                    new ServedSocket(sockets.registration(), sockets, List.of(registration.bindService()));
            started.push(registrar);
            new SelfCall(sockets, FIRST_CALL).toBoth(registrar.hiddenPath(), service.hiddenPath());
            isStarted = true;
            return new KubeletPlugin(service, registrar, registration, health);
        } finally {
            if (!isStarted) {
                end(health);
                started.forEach(server -> server.stop(Duration.ZERO));
            }
        }
    }

    /**
     * Publishes both sockets for the kubelet, the service socket first.
     *
     * @throws DraException if a socket can't be put at its path
     */
    public void publish() {
        service.publish();
        registrar.publish();
    }

    /**
     * Checks whether both sockets exist, and serves one again that two checks in a row have not found; call it every
     * few seconds.
     *
     * @throws DraException if one is gone, and can't be served
     */
    public void look() {
        service.look();
        registrar.look();
    }

    private static void end(@Nullable HealthFeed health) {
        if (health != null) {
            health.close();
        }
    }

    private static PluginInfo info(String driverName, Path service, boolean reportsHealth) {
        return PluginInfo.newBuilder()
                .setType(TYPE)
                .setName(driverName)
                .setEndpoint(service.toString())
                .addAllSupportedVersions(VERSIONS)
                .addAllSupportedVersions(reportsHealth ? HEALTH_VERSIONS : List.of())
                .build();
    }

    private static List<ServerServiceDefinition> services(
            ClaimOperations operations, @Nullable HealthFeed health, InstantSource clock, Meters meters) {
        ClaimCalls calls = new ClaimCalls(operations, clock, meters);
        List<ServerServiceDefinition> services = new ArrayList<>();
        services.add(DraService.v1(calls));
        services.add(DraService.v1beta1(calls));
        if (health != null) {
            HealthService service = new HealthService(health, clock);
            services.add(service.bindService());
            services.add(underName(service, "v1alpha1.DRAResourceHealth"));
        }
        return services;
    }

    /**
     * Binds a service under the full name of an earlier version, whose messages have the same fields with the same
     * numbers and types.
     */
    private static ServerServiceDefinition underName(BindableService service, String name) {
        ServerServiceDefinition.Builder bound = ServerServiceDefinition.builder(name);
        service.bindService().getMethods().forEach(method -> bind(method, name, bound));
        return bound.build();
    }

    private static <Q, A> void bind(
            ServerMethodDefinition<Q, A> method, String name, ServerServiceDefinition.Builder bound) {
        MethodDescriptor<Q, A> descriptor = method.getMethodDescriptor();
        String fullName = MethodDescriptor.generateFullMethodName(name, descriptor.getBareMethodName());
        bound.addMethod(descriptor.toBuilder().setFullMethodName(fullName).build(), method.getServerCallHandler());
    }

    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return registration.registered.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    public boolean isRegistered() {
        return registration.isRegistered;
    }

    /** Lets calls in flight end, for a few seconds, and removes both sockets. */
    @Override
    public void close() {
        end(health); // a server does not stop while a stream is open
        try {
            service.stop(GRACE);
        } finally {
            registrar.stop(Duration.ofSeconds(1));
        }
    }

    /**
     * Answers the kubelet's registration calls.
     *
     * <p>The kubelet takes the first version of the list that it knows: the newest comes first. A
     * registration that it refuses is logged, and the kubelet tries again.
     */
    private static final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {

        private static final Logger LOG = LoggerFactory.getLogger(RegistrationService.class);

        private static final String SUCCESS = "success";
        private static final String ERROR = "error";

        private final PluginInfo info;
        private final Meters meters;
        private final CountDownLatch registered = new CountDownLatch(1);
        private volatile boolean isRegistered; // according to the kubelet's last notification

        RegistrationService(PluginInfo info, Meters meters) {
            this.info = info;
            this.meters = meters;
            meters.count(Metric.REGISTRATIONS, 0, SUCCESS);
            meters.count(Metric.REGISTRATIONS, 0, ERROR);
        }

        @Override
        public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
            response.onNext(info);
            response.onCompleted();
        }

        @Override
        public void notifyRegistrationStatus(
                RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
            isRegistered = status.getPluginRegistered();
            meters.count(Metric.REGISTRATIONS, isRegistered ? SUCCESS : ERROR);
            if (isRegistered) {
                LOG.info("The kubelet registered the driver");
                registered.countDown();
            } else {
                LOG.atWarn()
                        .log(
                                "The kubelet refused to register the driver and will try again; see its log: {}",
                                status.getError());
            }
            response.onNext(RegistrationStatusResponse.getDefaultInstance());
            response.onCompleted();
        }
    }

    /**
     * A socket that is served again when its file is gone.
     *
     * <p>A server keeps running when its file is removed, but no kubelet finds it. A new one takes its place,
     * and the old one ends with its calls. A file counts as gone if two checks in a row find none: a successor
     * that starts replaces it, and for a moment no socket exists. Thread-safe.
     */
    private static final class ServedSocket {

        private static final Logger LOG = LoggerFactory.getLogger(ServedSocket.class);

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
        ServedSocket(Path path, PluginSockets sockets, List<ServerServiceDefinition> services) {
            this.path = path;
            this.sockets = sockets;
            this.services = services;
            this.server = start();
        }

        private SocketServer start() {
            return SocketServer.start(path, sockets.hidden(path), services);
        }

        /** Returns the path at which the server answers until it is published. */
        synchronized Path hiddenPath() {
            return server.file().hidden();
        }

        synchronized void publish() {
            server.file().publish();
        }

        /**
         * Checks whether the file exists.
         *
         * @throws DraException if it is gone, and can't be created again
         */
        synchronized void look() {
            boolean isGone = !isStopped && server.file().isGone();
            if (isGone && wasGone) {
                serveAgain();
            }
            wasGone = isGone;
            retired.removeIf(SocketServer::hasEnded);
        }

        private void serveAgain() {
            SocketServer next = start();
            boolean isPublished = false; // unless another process of the driver was first
            try {
                isPublished = next.file().publishIfFree();
            } finally {
                if (!isPublished) {
                    next.stop(Duration.ZERO);
                }
            }
            if (isPublished) {
                server.retire();
                retired.add(server);
                server = next;
                LOG.atWarn()
                        .addKeyValue(LogField.SOCKET, path)
                        .log("The driver's socket was gone, and is served again");
            }
        }

        /** Lets calls in flight end, for some time, and removes the socket. */
        synchronized void stop(Duration grace) {
            isStopped = true;
            server.stop(grace);
            retired.forEach(old -> old.stop(Duration.ZERO));
        }
    }

    /** The kubelet's DRA service: translates its messages. */
    private static final class DraService extends DRAPluginGrpc.DRAPluginImplBase {

        private final ClaimCalls calls;
        private final boolean hasShareIds;

        private DraService(ClaimCalls calls, boolean hasShareIds) {
            this.calls = calls;
            this.hasShareIds = hasShareIds;
        }

        static ServerServiceDefinition v1(ClaimCalls calls) {
            return new DraService(calls, true).bindService();
        }

        /** The service for kubelets 1.32 to 1.36, whose devices have no share ids. */
        static ServerServiceDefinition v1beta1(ClaimCalls calls) {
            return underName(new DraService(calls, false), "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin");
        }

        @Override
        public void nodePrepareResources(
                NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
            ClaimCalls.respond(response, () -> prepare(request));
        }

        @Override
        public void nodeUnprepareResources(
                NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> response) {
            ClaimCalls.respond(response, () -> unprepare(request));
        }

        private NodePrepareResourcesResponse prepare(NodePrepareResourcesRequest request) {
            NodePrepareResourcesResponse.Builder response = NodePrepareResourcesResponse.newBuilder();
            calls.prepare(request.getClaimsList()).forEach((uid, outcome) -> response.putClaims(uid, result(outcome)));
            return response.build();
        }

        private NodeUnprepareResourcesResponse unprepare(NodeUnprepareResourcesRequest request) {
            NodeUnprepareResourcesResponse.Builder response = NodeUnprepareResourcesResponse.newBuilder();
            calls.unprepare(request.getClaimsList())
                    .forEach((uid, outcome) -> response.putClaims(uid, result(outcome)));
            return response.build();
        }

        private NodePrepareResourceResponse result(PrepareOutcome outcome) {
            NodePrepareResourceResponse.Builder result = NodePrepareResourceResponse.newBuilder();
            if (outcome instanceof PrepareOutcome.Prepared prepared) {
                prepared.devices().forEach(device -> result.addDevices(result(device)));
            } else if (outcome instanceof PrepareOutcome.Failed failed) {
                result.setError(failed.message());
            }
            return result.build();
        }

        private Device result(DeviceResult device) {
            Device.Builder result = Device.newBuilder()
                    .addAllRequestNames(device.requests())
                    .setPoolName(device.pool())
                    .setDeviceName(device.device())
                    .addAllCdiDeviceIds(device.cdiDeviceIds());
            if (hasShareIds && device.shareId() != null) {
                result.setShareId(device.shareId());
            }
            return result.build();
        }

        private static NodeUnprepareResourceResponse result(UnprepareOutcome outcome) {
            NodeUnprepareResourceResponse.Builder result = NodeUnprepareResourceResponse.newBuilder();
            if (outcome instanceof UnprepareOutcome.Failed failed) {
                result.setError(failed.message());
            }
            return result.build();
        }
    }

    /**
     * Removes the stale sockets of killed instances of the driver, and nothing else.
     *
     * <p>While such a registration socket is there, the kubelet considers its instance registered. This class only
     * looks at names that no other driver uses, and only removes sockets that refuse a connection: an instance that is
     * alive, even one that hangs, does not refuse. A hidden socket that was just bound may refuse for a moment, so it
     * must also be older than a minute.
     */
    record StaleSockets(PluginSockets sockets, InstantSource clock) {

        private static final Logger LOG = LoggerFactory.getLogger(StaleSockets.class);
        private static final Duration STARTING = Duration.ofMinutes(1);

        /** Checks both directories; files that can't be checked stay. */
        void remove() {
            removeFrom(
                    sockets.registrarDirectory(), path -> isStaleHidden(path) || sockets.isOwnRegistration(name(path)));
            removeFrom(sockets.dataDirectory(), path -> isStaleHidden(path) || PluginSockets.isService(name(path)));
        }

        private void removeFrom(Path directory, DirectoryStream.Filter<Path> ours) {
            try (DirectoryStream<Path> candidates = Files.newDirectoryStream(directory, ours)) {
                for (Path candidate : candidates) {
                    SocketFile.removeIfDead(candidate, sockets.hidden(candidate));
                }
            } catch (IOException | DirectoryIteratorException e) { // one that another instance has just published, say
                LOG.atDebug().addKeyValue(LogField.PATH, directory).setCause(e).log("Could not look for stale sockets");
            }
        }

        private boolean isStaleHidden(Path path) throws IOException {
            return sockets.isHidden(name(path))
                    && Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                            .toInstant()
                            .isBefore(clock.instant().minus(STARTING));
        }

        private static String name(Path path) {
            return path.getFileName().toString();
        }
    }
}
