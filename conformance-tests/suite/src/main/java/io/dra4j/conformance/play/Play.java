// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.controllers.Controllers;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * One play: an embedded API server, a fake kubelet and each driver in its own process, and the whole lifecycle of the
 * claims in the manifests.
 *
 * <p>{@link #close} may be called at any time and from any thread, even while the play runs: it ends the
 * drivers' processes and removes every file. A play is played once.
 */
public final class Play implements AutoCloseable {

    private final PlaySettings settings;
    private final Narrator narrator;
    private final Opened opened = new Opened();
    private final List<DriverProcess> drivers = new CopyOnWriteArrayList<>();

    public Play(PlaySettings settings, PrintStream out) {
        this.settings = settings;
        this.narrator = new Narrator(out);
    }

    /** Plays from the drivers' start to their end, printing it; returns whether every step passed. */
    public boolean run() {
        return held(script -> {
            script.open();
            script.play();
            narrator.success();
        });
    }

    /** Plays until devices and claims can be inspected, until {@link #close}; returns whether every step passed. */
    public boolean open() {
        return held(script -> {
            script.open();
            script.invite();
        });
    }

    private boolean held(Consumer<Script> part) {
        try {
            part.accept(new Script(settings, cast(), narrator));
            return true;
        } catch (StepFailed | Violation | SettingsException e) {
            failed(e.getMessage());
        } catch (RuntimeException e) {
            failed("unexpected: " + e);
        }
        return false;
    }

    private void failed(String why) {
        if (!opened.isClosed()) { // otherwise whoever closed the play knows why it ended
            narrator.failure(why);
            drivers.forEach(driver -> narrator.output(driver.name(), driver.tail()));
        }
    }

    private Script.Cast cast() {
        Place node = opened.open(
                () -> Place.create(settings.nodeName(), settings.driverNames().get(0)),
                place -> place.remove().ifPresent(narrator::text));
        EmbeddedApiServer api = opened.open(
                () -> EmbeddedApiServer.builder()
                        .like(settings.gates())
                        .node(settings.nodeName())
                        .start(),
                EmbeddedApiServer::close);
        ApiProxy proxy = opened.open(() -> ApiProxy.before(api.url()), ApiProxy::close);
        Path kubeconfig = node.root().resolve("kubeconfig.kubectl");
        int port;
        try {
            api.writeKubeconfig(kubeconfig); // people bypass the proxy, which only drivers use
            port = proxy.writeKubeconfig(node.kubeconfig(), node.serviceAccount(), "default");
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write a kubeconfig in " + node.root(), e);
        }
        List<ProcessDriver> adapters = new ArrayList<>();
        List<Place> places = new ArrayList<>();
        for (PlaySettings.Driver driver : settings.drivers()) {
            ProcessDriver adapter = new ProcessDriver(driver.process(), List.of(), settings.stepTimeout());
            adapters.add(adapter);
            places.add(place(adapter, node.of(driver.name()), port));
        }
        Place shared = places.get(0);
        FakeKubelet kubelet =
                opened.open(() -> shared.kubelet(api.version().minor()).start(), FakeKubelet::close);
        for (int i = 0; i < places.size(); i++) {
            ProcessDriver adapter = adapters.get(i);
            Place place = places.get(i);
            drivers.add(opened.open(() -> new DriverProcess(adapter, place), DriverProcess::close));
        }
        PlayedKubelet played = new PlayedKubelet(kubelet, List.copyOf(drivers));
        Controllers controllers = opened.open(
                () -> Controllers.of(api).kubelet(settings.nodeName(), kubelet).start(), Controllers::close);
        return new Script.Cast(shared, kubeconfig, api, proxy, played, controllers, played.drivers());
    }

    /** The place of a driver: all drivers of a play share their directories. */
    private static Place place(ProcessDriver adapter, Place bare, int port) {
        try {
            Place place = adapter.place(bare);
            return place.isInCluster() ? place.withSecurePort(port) : place;
        } catch (DriverUnusable e) {
            throw new StepFailed(e.getMessage());
        }
    }

    /** Ends everything, the last opened first, even if a part fails. */
    @Override
    public void close() {
        opened.end().forEach(e -> narrator.text("A part of the run did not end cleanly: " + e));
    }
}
