// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

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

    final Settings settings;
    final Parts parts;
    final ApiClient api;
    final Inventory inventory;
    final CdiSpecs cdi;
    final Configs configs;
    final Metadata metadata;
    final CallCounters counters;
    final DeviceReports reports;
    final Calls calls;
    final HealthReports health;
    final Publisher publisher;
    final SocketServer service;
    final SocketServer registry;

    BareDriver(Settings settings, Parts parts) {
        this.settings = settings;
        this.parts = parts;
        api = parts.api.apply(settings);
        inventory = parts.inventory.apply(settings);
        cdi = parts.cdi.apply(settings);
        configs = parts.configs.apply(settings);
        metadata = parts.metadata.apply(settings);
        counters = parts.counters.get();
        reports = parts.reports.apply(this);
        calls = parts.calls.apply(this);
        health = parts.health.apply(this);
        publisher = parts.publisher.apply(this);
        service = parts.serviceSocket.apply(servicePath());
        registry = parts.registrationSocket.apply(registrationPath());
    }

    Path servicePath() {
        return settings.data().resolve("bare" + suffix() + ".sock");
    }

    Path registrationPath() {
        return settings.registry().resolve(settings.driver() + suffix() + "-reg.sock");
    }

    /** Tells the sockets of two instances apart. */
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
        health.start();
    }

    void serve() throws IOException {
        service.start(services());
    }

    void register() throws IOException {
        registry.start(List.of(parts.registration.apply(this)));
    }

    List<BindableService> services() {
        List<BindableService> services = new ArrayList<>();
        services.add(new PluginV1(this));
        services.add(new PluginV1beta1(this));
        if (settings.health()) {
            services.add(health);
        }
        return services;
    }

    void stop() {
        registry.stop(0);
        service.stop(GRACE);
        publisher.stop();
    }
}
