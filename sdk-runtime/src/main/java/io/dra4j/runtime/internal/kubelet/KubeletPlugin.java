// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The driver as the kubelet sees it: a registration socket and a service socket.
 *
 * <p>The service socket answers before the registration socket appears. Sockets of others are never
 * touched. Thread-safe.
 */
public final class KubeletPlugin implements AutoCloseable {

    private static final String TYPE = "DRAPlugin";
    private static final List<String> VERSIONS = List.of("v1.DRAPlugin", "v1beta1.DRAPlugin");
    private static final Duration GRACE = Duration.ofSeconds(4);

    private final SocketServer service;
    private final SocketServer registrar;
    private final RegistrationService registration;

    private KubeletPlugin(
            SocketServer service, SocketServer registrar, RegistrationService registration) {
        this.service = service;
        this.registrar = registrar;
        this.registration = registration;
    }

    /**
     * Begins to serve; on return both sockets answer.
     *
     * @throws DraException if a socket can't be served; then neither is
     */
    public static KubeletPlugin start(
            PluginSockets sockets, ClaimOperations operations, InstantSource clock) {
        Path servicePath = sockets.service();
        Path registrationPath = sockets.registration();
        ClaimCalls calls = new ClaimCalls(operations, clock);
        RegistrationService registration =
                new RegistrationService(
                        PluginInfo.newBuilder()
                                .setType(TYPE)
                                .setName(sockets.driverName())
                                .setEndpoint(servicePath.toString())
                                .addAllSupportedVersions(VERSIONS)
                                .build());
        Deque<SocketServer> started = new ArrayDeque<>();
        try {
            SocketServer service =
                    SocketServer.start(
                            "dra",
                            servicePath,
                            List.of(new DraServiceV1(calls), new DraServiceV1beta1(calls)));
            started.push(service);
            SocketServer registrar =
                    SocketServer.start("registration", registrationPath, List.of(registration));
            started.push(registrar);
            SelfCall.toBoth(registrar.hiddenPath(), service.hiddenPath());
            service.publish();
            registrar.publish();
            return new KubeletPlugin(service, registrar, registration);
        } catch (DraException e) {
            started.forEach(server -> server.stop(Duration.ZERO));
            throw e;
        }
    }

    /** Waits until the kubelet has confirmed the registration, and returns whether it has. */
    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return registration.awaitRegistered(timeout);
    }

    /** Lets calls in flight end, for some seconds, and removes both sockets. */
    @Override
    public void close() {
        try {
            service.stop(GRACE);
        } finally {
            registrar.stop(Duration.ofSeconds(1));
        }
    }
}
