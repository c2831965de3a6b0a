// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.DriverTrouble;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One play: an embedded API server, a fake kubelet and each driver as a process of its own, and all
 * that manifests let a claim go through.
 *
 * <p>{@link #close} may come at any time and from any thread, also while the play runs: it ends the
 * drivers' processes and removes every file. A play is played once.
 */
public final class Play implements AutoCloseable {

    private final PlaySettings settings;
    private final Narrator narrator;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>(); // guarded by this
    private boolean closed; // guarded by this
    private final List<DriverProcess> drivers = new CopyOnWriteArrayList<>();

    public Play(PlaySettings settings, PrintStream out) {
        this.settings = settings;
        this.narrator = new Narrator(out);
    }

    /**
     * Plays from the drivers' start to their end, and says what happens.
     *
     * @return whether every step held
     */
    public boolean run() {
        return held(
                script -> {
                    script.open();
                    script.play();
                    narrator.success();
                });
    }

    /**
     * Plays until the devices and claims are there to be looked at.
     *
     * @return whether every step held; everything then goes on until {@link #close}
     */
    public boolean open() {
        return held(
                script -> {
                    script.open();
                    script.invite();
                });
    }

    private boolean held(Consumer<Script> part) {
        try {
            part.accept(new Script(settings, cast(), narrator));
            return true;
        } catch (StepFailed e) {
            failed(e.getMessage());
        } catch (RuntimeException e) {
            failed("unexpected: " + e);
        }
        return false;
    }

    private synchronized void failed(String why) {
        if (!closed) { // otherwise whoever closed the play knows why it ended
            narrator.failure(why);
            drivers.forEach(driver -> narrator.output(driver.name(), driver.tail()));
        }
    }

    private Script.Cast cast() {
        Folders folders = opened(Folders::create);
        EmbeddedApiServer api =
                opened(() -> EmbeddedApiServer.builder().node(settings.nodeName()).start());
        ApiProxy proxy = opened(() -> ApiProxy.before(api.url()));
        List<ProcessDriver> adapters = new ArrayList<>();
        List<Place> places = new ArrayList<>();
        for (PlaySettings.Driver driver : settings.drivers()) {
            ProcessDriver adapter =
                    new ProcessDriver(driver.process(), List.of(), settings.patience());
            adapters.add(adapter);
            places.add(place(adapter, folders.place(settings.nodeName(), driver.name()), proxy));
        }
        write(folders, api, proxy, places);
        PlayedKubelet kubelet =
                opened(() -> new PlayedKubelet(places.get(0), settings.driverNames()));
        for (int i = 0; i < places.size(); i++) {
            ProcessDriver adapter = adapters.get(i);
            Place place = places.get(i);
            drivers.add(opened(() -> DriverProcess.start(adapter, place)));
        }
        CdiFolder cdi = new CdiFolder(places.get(0).cdiDirectories());
        return new Script.Cast(folders, cdi, api, proxy, kubelet, List.copyOf(drivers));
    }

    /** Where a driver runs: all drivers of a play share their directories. */
    private static Place place(ProcessDriver adapter, Place bare, ApiProxy proxy) {
        try {
            Place place = adapter.place(bare);
            Optional<Path> account = place.serviceAccount();
            return account.isEmpty()
                    ? place
                    : place.withSecurePort(proxy.writeServiceAccount(account.get(), "default"));
        } catch (DriverTrouble e) {
            throw new StepFailed(e.getMessage());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write a service account in " + bare.root(), e);
        }
    }

    /** People look without the proxy, which drivers have. */
    private static void write(
            Folders folders, EmbeddedApiServer api, ApiProxy proxy, List<Place> places) {
        try {
            api.writeKubeconfig(folders.kubeconfig());
            for (Place place : places) {
                proxy.writeKubeconfig(place.kubeconfig());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write a kubeconfig in " + folders.root(), e);
        }
    }

    private synchronized <T extends AutoCloseable> T opened(Supplier<T> opening) {
        StepFailed.unless(!closed, "the play was ended");
        T resource = opening.get();
        opened.push(resource);
        return resource;
    }

    /** Ends everything, the last opened first; what fails does not keep the rest from ending. */
    @Override
    public synchronized void close() {
        closed = true;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                narrator.text("A part of the play did not end cleanly: " + e);
            }
        }
    }
}
