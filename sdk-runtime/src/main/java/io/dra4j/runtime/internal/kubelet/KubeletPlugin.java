// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.observe.Meters;
import io.grpc.ServerServiceDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The driver as the kubelet sees it: a registration socket and a service socket.
 *
 * <p>The service socket answers before the registration socket appears. Sockets of others are never
 * touched. One of its own that is removed is served again by {@link #look}. Thread-safe.
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
     * @param health the feed of devices' health, closed with the plugin; {@code null} if the
     *     provider reports none, and the kubelet's question is unimplemented
     * @throws DraException if a socket can't be served; then neither is, and the health is closed
     */
    public static KubeletPlugin start(
            PluginSockets sockets,
            ClaimOperations operations,
            @Nullable HealthFeed health,
            Meters meters,
            InstantSource clock) {
        Path servicePath = sockets.service();
        Path registrationPath = sockets.registration();
        RegistrationService registration =
                new RegistrationService(info(sockets.driverName(), servicePath, health != null), meters);
        new StaleSockets(sockets, clock).remove();
        Deque<ServedSocket> started = new ArrayDeque<>();
        try {
            ServedSocket service =
                    new ServedSocket("dra", servicePath, sockets, services(operations, health, clock, meters));
            started.push(service);
            ServedSocket registrar =
                    new ServedSocket("registration", registrationPath, sockets, List.of(registration.bindService()));
            started.push(registrar);
            new SelfCall(sockets, FIRST_CALL).toBoth(registrar.hiddenPath(), service.hiddenPath());
            return new KubeletPlugin(service, registrar, registration, health);
        } catch (DraException e) {
            end(health);
            started.forEach(server -> server.stop(Duration.ZERO));
            throw e;
        }
    }

    /**
     * Makes both sockets known to the kubelet, the service socket first.
     *
     * @throws DraException if a socket can't be put at its path
     */
    public void publish() {
        service.publish();
        registrar.publish();
    }

    /**
     * Looks whether both sockets are there, and serves one again that two looks in a row have not
     * found; to be called every few seconds.
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
            services.add(EarlierVersion.of(service, "v1alpha1.DRAResourceHealth"));
        }
        return services;
    }

    /** Waits until the kubelet has confirmed the registration, and returns whether it has. */
    public boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return registration.awaitRegistered(timeout);
    }

    /** Returns whether the kubelet has confirmed the registration. */
    public boolean isRegistered() {
        return registration.isRegistered();
    }

    /** Lets calls in flight end, for some seconds, and removes both sockets. */
    @Override
    public void close() {
        end(health); // a server does not stop while a stream is open
        try {
            service.stop(GRACE);
        } finally {
            registrar.stop(Duration.ofSeconds(1));
        }
    }
}
