// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A driver that is run externally, on a single node.
 *
 * <p>The suite starts, stops and kills it by commands, if all three are configured; each returns when its work is done.
 */
public record ExternalDriver(
        ExternalSettings settings, List<String> cdiDirectories, Map<String, List<String>> hooks, Duration startTimeout)
        implements DriverAdapter {

    private static final List<String> CONTROL = List.of("start", "stop", "kill");

    public ExternalDriver {
        cdiDirectories = List.copyOf(cdiDirectories);
        hooks = Map.copyOf(hooks);
    }

    @Override
    public boolean controlsProcess() {
        return hooks.keySet().containsAll(CONTROL);
    }

    @Override
    public boolean runsAnywhere() {
        return false;
    }

    @Override
    public Place place(String node, String driver) {
        Path registry = Path.of(settings.registry());
        if (!Files.isDirectory(registry)) {
            throw new DriverUnusable("driver.external.registry: no such directory: " + registry);
        }
        Place place = Place.of(
                settings.node(),
                driver,
                registry,
                Path.of(settings.plugins()),
                Path.of(settings.cdi()),
                settings.log());
        List<Path> directories =
                cdiDirectories.stream().map(name -> Path.of(place.fill(name))).toList();
        return directories.isEmpty() ? place : place.withCdiDirectories(directories);
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        if (controlsProcess()) {
            Command.run("start", hooks.get("start"), place, more);
        }
        return new Foreign(place);
    }

    private final class Foreign implements Instance {
        private final Place place;
        private volatile boolean ended;

        Foreign(Place place) {
            this.place = place;
        }

        @Override
        public boolean isAlive() {
            return !ended;
        }

        @Override
        public void terminate() {
            end("stop");
        }

        @Override
        public void kill() {
            end("kill");
        }

        private void end(String hook) {
            if (!controlsProcess()) {
                throw new DriverUnusable("The driver is run externally, without commands");
            }
            Command.run(hook, hooks.get(hook), place, Map.of());
            ended = true;
        }

        @Override
        public OptionalInt awaitExit(Duration timeout) {
            return ended ? OptionalInt.of(0) : OptionalInt.empty();
        }
    }
}
