// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.grpc.BindableService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A DRA driver on the bare stubs: serves first, registers then, publishes at the side; the end
 * leaves prepared claims and slices as they are.
 */
class BareDriver {

    static final long GRACE = 3_000;

    final Parts parts = Parts.of(this);
    final Settings settings = settings(parts.settings);
    final ApiClient api = parts.make(ApiClient.class);
    final Inventory inventory = parts.make(Inventory.class);
    final CdiSpecs cdi = parts.make(CdiSpecs.class);
    final Configs configs = parts.make(Configs.class);
    final Metadata metadata = parts.make(Metadata.class);
    final CallCounters counters = parts.make(CallCounters.class);
    final DeviceReports reports = parts.make(DeviceReports.class);
    final Calls calls = parts.make(Calls.class);
    final HealthReports health = parts.make(HealthReports.class);
    final Publisher publisher = parts.make(Publisher.class);
    final SocketServer service = parts.make(SocketServer.class).at(servicePath());
    final SocketServer registry = parts.make(SocketServer.class).at(registrationPath());

    Settings settings(Settings given) {
        return given;
    }

    Path servicePath() {
        return settings.data().resolve("bare" + suffix() + ".sock");
    }

    Path registrationPath() {
        return settings.registry().resolve(settings.driver() + suffix() + "-reg.sock");
    }

    /** A suffix that makes the sockets of two instances differ. */
    String suffix() {
        String uid = settings.podUid();
        return uid.isEmpty() ? "" : "-" + Integer.toHexString(uid.hashCode());
    }

    void start() throws IOException {
        Files.createDirectories(settings.data());
        calls.work.start();
        if (settings.number("--metrics-port", 0) > 0) {
            counters.serve(settings.number("--metrics-port", 0));
        }
        serve();
        register();
        publisher.start();
        Pauses.daemon("specs", calls.work::keepSpecs);
        health.start();
    }

    void serve() throws IOException {
        service.start(services());
    }

    void register() throws IOException {
        registry.start(List.of(parts.make(Registration.class)));
    }

    /** The versions of the plugin's service. */
    List<String> plugins() {
        return List.of(PluginV1.VERSION, PluginV1.BETA);
    }

    List<BindableService> services() {
        List<BindableService> services = new ArrayList<>();
        if (plugins().contains(PluginV1.VERSION)) {
            services.add(new PluginV1(this));
        }
        if (plugins().contains(PluginV1.BETA)) {
            services.add(PluginV1.beta(this));
        }
        if (settings.health()) {
            health.versions().forEach(version -> services.add(() -> health.served(version)));
        }
        return services;
    }

    void stop() {
        registry.stop(0);
        service.stop(GRACE);
        publisher.stop();
    }
}
