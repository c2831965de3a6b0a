// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.driver;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** A driver that the suite runs as a process of its own, as often and as many as it wants. */
public final class ProcessDriver implements DriverAdapter {

    private final List<String> command;
    private final Map<String, String> environment;
    private final Duration startTimeout;

    /** Runs a command; {@code {NAME}} in a word or a value stands for a value of the place. */
    public ProcessDriver(
            List<String> command, Map<String, String> environment, Duration startTimeout) {
        this.command = List.copyOf(command);
        this.environment = Map.copyOf(environment);
        this.startTimeout = startTimeout;
    }

    @Override
    public boolean controlsProcess() {
        return true;
    }

    @Override
    public boolean runsAnywhere() {
        return true;
    }

    @Override
    public Duration startTimeout() {
        return startTimeout;
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        ProcessBuilder builder =
                new ProcessBuilder(command.stream().map(place::fill).toList())
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.appendTo(place.log().toFile()));
        builder.environment().putAll(place.values());
        environment.forEach((name, value) -> builder.environment().put(name, place.fill(value)));
        builder.environment().putAll(more);
        try {
            return new Running(builder.start());
        } catch (IOException e) {
            throw new DriverTrouble("Can't run the driver: " + e.getMessage());
        }
    }

    private record Running(Process process) implements Instance {

        private static final Duration DEATH = Duration.ofSeconds(30);

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
            process.destroy();
        }

        @Override
        public void kill() {
            process.destroyForcibly();
            if (awaitExit(DEATH).isEmpty()) {
                throw new DriverTrouble(
                        "The driver, process " + process.pid() + ", outlives SIGKILL");
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
}
