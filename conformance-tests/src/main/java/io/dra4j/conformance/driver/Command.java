// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.driver;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A command of the vendor's that changes something for the suite. */
final class Command {

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int TAIL = 500;

    private Command() {}

    /**
     * Runs a command to its end.
     *
     * @param words the program and its arguments; {@code {NAME}} stands for a value of the place
     * @throws DriverTrouble if it cannot be run, does not end, or ends with a status but 0
     */
    static void run(String name, List<String> words, Place place, Map<String, String> more) {
        Path output = place.root().resolve("hook-" + name + ".log");
        ProcessBuilder builder =
                new ProcessBuilder(words.stream().map(place::fill).toList())
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.to(output.toFile()));
        builder.environment().putAll(place.values());
        builder.environment().putAll(more);
        try {
            Process process = builder.start();
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new DriverTrouble("The command " + name + " did not end within " + LIMIT);
            }
            if (process.exitValue() != 0) {
                throw new DriverTrouble(
                        "The command %s ended with exit status %d: %s"
                                .formatted(name, process.exitValue(), tail(output)));
            }
        } catch (IOException e) {
            throw new DriverTrouble("Can't run the command " + name + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverTrouble("interrupted while the command " + name + " ran");
        }
    }

    private static String tail(Path output) throws IOException {
        String text = Files.readString(output).strip();
        return text.substring(Math.max(0, text.length() - TAIL));
    }
}
