// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The commands of the settings that change what the driver sees: unplug a device, break it, mend
 * it.
 *
 * <p>A word of a command may hold {@code {NAME}}, a value of the place; the values are also in the
 * command's environment. A command that fails is the suite's trouble, and no fault of the driver.
 */
public final class Hooks {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Bench bench;

    Hooks(Bench bench) {
        this.bench = bench;
    }

    /** Whether the settings have a hook of this name. */
    public boolean has(String name) {
        return bench.settings().driver().hooks().containsKey(name);
    }

    /**
     * Runs a hook, and waits until it has ended.
     *
     * @throws NotApplicable if there is none of this name
     * @throws IllegalStateException if it cannot be run, fails, or takes longer than a minute
     */
    public void run(String name) {
        NotApplicable.unless(has(name), "the settings have no hook %s", name);
        List<String> command =
                bench.settings().driver().hooks().get(name).stream()
                        .map(bench.place()::fill)
                        .toList();
        try {
            Path output = Files.createTempFile(bench.place().root(), "hook-", ".txt");
            int status = run(name, command, output.toFile());
            String said = new String(Files.readAllBytes(output), StandardCharsets.UTF_8).strip();
            Files.delete(output);
            bench.transcript().note("hook " + name + " -> exit status " + status + " " + said);
            if (status != 0) {
                throw new IllegalStateException(
                        "the hook %s, %s, failed with exit status %d: %s"
                                .formatted(name, command, status, said));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Can't run the hook " + name + ", " + command, e);
        }
    }

    private int run(String name, List<String> command, File output) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
        builder.environment().putAll(bench.place().values());
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            if (process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                return process.exitValue();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        throw new IllegalStateException(
                "the hook %s, %s, has not ended within %d s"
                        .formatted(name, command, LIMIT.toSeconds()));
    }
}
