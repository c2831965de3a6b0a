// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A provider that the SDK runs in this JVM.
 *
 * <p>It has no process of its own, so nothing that stops, kills or restarts a driver is tried; each
 * test context has a provider of its own.
 */
public final class ProviderDriver implements DriverAdapter {

    private final Function<Place, DeviceProvider> providers;
    private final Consumer<DraDriver.Builder> settings;
    private final Queue<Place> places = new ConcurrentLinkedQueue<>();

    /**
     * Runs what a function makes.
     *
     * @param providers makes a provider for a place, whose node and driver name it may need
     * @param settings changes the builder before each start
     */
    public ProviderDriver(
            Function<Place, DeviceProvider> providers, Consumer<DraDriver.Builder> settings) {
        this.providers = providers;
        this.settings = settings;
        Thread end = new Thread(() -> places.forEach(Place::remove), "dra-conformance-end");
        Runtime.getRuntime().addShutdownHook(end);
    }

    /** Also gone if the JVM ends before the run does, as when a test is stopped. */
    @Override
    public Place place(String node, String driver) {
        Place place = DriverAdapter.super.place(node, driver);
        places.add(place);
        return place;
    }

    @Override
    public boolean controlsProcess() {
        return false;
    }

    @Override
    public boolean runsAnywhere() {
        return true;
    }

    @Override
    public Duration startTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        if (!more.isEmpty()) {
            throw new DriverUnusable("A driver in this JVM has no environment of its own: " + more);
        }
        DraDriver.Builder builder =
                DraDriver.builder(place.driver(), place.node(), providers.apply(place))
                        .kubeconfig(place.kubeconfig())
                        .cdiRoot(place.cdi())
                        .kubeletPluginsDirectory(place.plugins())
                        .kubeletRegistrarDirectory(place.registry());
        settings.accept(builder);
        return new Running(started(builder));
    }

    private static DraDriver started(DraDriver.Builder builder) {
        try {
            DraDriver driver = builder.build();
            driver.start();
            return driver;
        } catch (DraException e) {
            throw new DriverUnusable("Can't start the driver: " + e.getMessage());
        }
    }

    private static final class Running implements Instance {
        private final DraDriver driver;
        private volatile boolean ended;

        Running(DraDriver driver) {
            this.driver = driver;
        }

        @Override
        public boolean isAlive() {
            return !ended;
        }

        @Override
        public OptionalLong pid() {
            return OptionalLong.empty();
        }

        @Override
        public void terminate() {
            driver.close();
            ended = true;
        }

        @Override
        public void kill() {
            terminate(); // the end of the context: nothing shall be left in this JVM
        }

        @Override
        public OptionalInt awaitExit(Duration timeout) {
            return ended ? OptionalInt.of(0) : OptionalInt.empty();
        }
    }
}
