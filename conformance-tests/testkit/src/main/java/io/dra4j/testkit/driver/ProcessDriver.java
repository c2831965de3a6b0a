// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A driver that the suite runs as a separate process, as often, and in as many instances, as it wants.
 *
 * @param settings its command; {@code {NAME}} in a word or a value stands for a value of the place
 * @param cdiDirectories the directories from which runtimes read CDI specs; empty for the default ones
 * @param startTimeout the time limit from a start to the registration with the kubelet
 */
public record ProcessDriver(ProcessSettings settings, List<String> cdiDirectories, Duration startTimeout)
        implements DriverAdapter {

    /** Runs a command; {@code {NAME}} in a word or a value stands for a value of the place. */
    public ProcessDriver(List<String> command, Map<String, String> environment, Duration startTimeout) {
        this(ProcessSettings.of(command, environment), List.of(), startTimeout);
    }

    public ProcessDriver {
        cdiDirectories = List.copyOf(cdiDirectories);
    }

    @Override
    public boolean runsSeveral() {
        return !settings.serial();
    }

    @Override
    public Optional<DriverAdapter> atStandardPaths() {
        return settings.standardPaths()
                ? Optional.empty()
                : Optional.of(new ProcessDriver(settings.atStandardPaths(), cdiDirectories, startTimeout));
    }

    @Override
    public Place place(String node, String driver) {
        Place bare = Place.create(node, driver);
        return Opened.orEnd(bare::remove, () -> place(bare));
    }

    /**
     * The same place with the mounts of the settings.
     *
     * @throws DriverUnusable if that needs a mount namespace, which cannot be made
     */
    public Place place(Place bare) {
        return new StandardPaths(settings, cdiDirectories).in(bare);
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        List<String> words = settings.command().stream().map(place::fill).toList();
        requireProgram(words.get(0));
        ProcessBuilder builder = new ProcessBuilder()
                .redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(place.log().toFile()));
        place.enter(builder.environment());
        settings.environment().forEach((name, value) -> builder.environment().put(name, place.fill(value)));
        builder.environment().putAll(more);
        try {
            makeDirectories(place);
            builder.command(place.command(words, builder.environment()));
            return new Running(builder.start());
        } catch (IOException e) {
            throw new DriverUnusable("Can't run the driver: " + e.getMessage());
        }
    }

    /** Makes directories as a DaemonSet does for each pod (hostPath of type DirectoryOrCreate). */
    private void makeDirectories(Place place) throws IOException {
        for (String name : settings.makeDirectories()) {
            Path directory = place.outside(Path.of(place.fill(name)));
            if (!directory.startsWith(place.root())) {
                throw new DriverUnusable(
                        "driver.process.makeDirectories: %s is not below a directory of the run, such as {KUBELET_PLUGINS_DIRECTORY_PATH}"
                                .formatted(directory));
            }
            Files.createDirectories(directory);
        }
    }

    /** The shell in between could report it only in the driver's log. */
    private static void requireProgram(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        boolean found = program.contains("/")
                ? Files.isExecutable(Path.of(program))
                : Stream.of(path.split(File.pathSeparator))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        if (!found) {
            String problem = Files.exists(Path.of(program))
                    ? "%s is not executable; chmod +x makes it so"
                    : "no such program: %s; give a path, or a name on the PATH";
            throw new DriverUnusable("Can't run the driver: " + problem.formatted(program));
        }
    }

    private static final class Running implements Instance {

        private static final Duration DEATH = Duration.ofSeconds(30);

        private final Process process;
        private final Set<ProcessHandle> started = ConcurrentHashMap.newKeySet();

        Running(Process process) {
            this.process = process;
        }

        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        @Override
        public OptionalLong pid() {
            return OptionalLong.of(process.pid());
        }

        @Override
        public void terminate() {
            remember();
            process.destroy();
        }

        @Override
        public void kill() {
            remember();
            process.destroyForcibly();
            if (awaitExit(DEATH).isEmpty()) {
                throw new DriverUnusable("The driver, process " + process.pid() + ", survived SIGKILL");
            }
        }

        @Override
        public void end() {
            try {
                kill(); // first, because it may start others again
            } finally {
                started.forEach(ProcessHandle::destroyForcibly);
            }
        }

        /** Remembers what it has started: once it has ended, that has another parent. */
        private void remember() {
            if (process.isAlive()) {
                process.descendants().forEach(started::add);
            }
        }

        @Override
        public OptionalInt awaitExit(Duration timeout) {
            try {
                return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)
                        ? OptionalInt.of(process.exitValue())
                        : OptionalInt.empty();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return OptionalInt.empty();
            }
        }
    }

    /**
     * The standard paths of a node, mounted from the run's directories for each process: those of the
     * kubelet wherever that is possible, so that no kubelet of the host registers the driver.
     */
    record StandardPaths(ProcessSettings settings, List<String> cdiDirectories) {

        private static final String PLUGINS = "/var/lib/kubelet/plugins";
        private static final List<String> KUBELET = List.of(PLUGINS, Place.REGISTRY);
        private static final String CDI_IN_MEMORY = "/var/run/cdi";

        /** The directories in ascending priority, as runtimes read them. */
        private static final List<String> CDI = List.of(Place.CDI_ON_DISK.toString(), CDI_IN_MEMORY);

        /**
         * Returns a place in which these paths belong to the run.
         *
         * @throws DriverUnusable if the settings require a mount namespace, which cannot be made
         */
        Place in(Place bare) {
            return in(bare, MountNamespace.missing());
        }

        /** The same for a given reason why a mount namespace is missing; empty if it can be made. */
        Place in(Place bare, String missing) {
            if (!missing.isEmpty()) {
                require(!settings.standardPaths(), "standardPaths", missing);
                require(!settings.inCluster(), "inCluster", missing);
            }
            Place place = missing.isEmpty() ? bare.withBootId() : bare;
            if (settings.standardPaths()
                    || (missing.isEmpty() && MountNamespace.missing(KUBELET).isEmpty())) {
                place = place.withMount(PLUGINS, place.plugins()).withMount(Place.REGISTRY, place.registry());
            }
            if (settings.standardPaths()) {
                place = place.withMount(CDI_IN_MEMORY, place.cdi());
            }
            if (settings.inCluster()) {
                place = place.withMount(Place.SERVICE_ACCOUNT, made(place.serviceAccount()));
            }
            return withCdiDirectories(place);
        }

        private static void require(boolean met, String setting, String missing) {
            if (!met) {
                throw new DriverUnusable(
                        "driver.process.%s needs a mount namespace for the driver's process: run the suite as root, or with CAP_SYS_ADMIN; here: %s"
                                .formatted(setting, missing));
            }
        }

        private Place withCdiDirectories(Place given) {
            List<String> names = cdiDirectories;
            if (names.isEmpty()) {
                names = settings.standardPaths() ? CDI : List.of(given.cdi().toString());
            }
            Place place = given;
            List<Path> directories = new ArrayList<>();
            for (String name : names) {
                Path inside = Path.of(place.fill(name));
                Path outside = place.outside(inside);
                if (!outside.startsWith(place.root()) && place.canReboot()) {
                    outside = place.root().resolve("cdi-" + directories.size());
                    place = place.withMount(inside.toString(), outside);
                }
                directories.add(outside.startsWith(place.root()) ? made(outside) : outside);
            }
            return place.withCdiDirectories(directories);
        }

        private static Path made(Path directory) {
            try {
                return Files.createDirectories(directory);
            } catch (IOException e) {
                throw new UncheckedIOException("Can't make " + directory, e);
            }
        }
    }
}
