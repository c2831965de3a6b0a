// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A command of the vendor's that changes something for the suite: the driver, or what it sees.
 *
 * <p>A word of it may contain {@code {NAME}}, a value of the place; the values are also in its environment.
 */
public final class Command {

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int TAIL = 500;

    private Command() {}

    /**
     * Runs a command to its end.
     *
     * @param words the program and its arguments
     * @param more additional variables of its environment
     * @return what it printed
     * @throws DriverUnusable if it cannot be run, does not end within two minutes, or ends with a status other than 0
     */
    public static String run(String name, List<String> words, Place place, Map<String, String> more) {
        Path output = place.root().resolve("hook-" + name + ".log");
        ProcessBuilder builder = new ProcessBuilder(
                        words.stream().map(place::fill).toList())
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(output.toFile()));
        builder.environment().putAll(place.values());
        builder.environment().putAll(more);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new DriverUnusable("The command %s did not end within %d s".formatted(name, LIMIT.toSeconds()));
            }
            if (process.exitValue() != 0) {
                throw new DriverUnusable("The command %s ended with exit status %d: %s"
                        .formatted(name, process.exitValue(), tail(output)));
            }
            return tail(output);
        } catch (IOException e) {
            throw new DriverUnusable("Can't run the command " + name + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverUnusable("interrupted while the command " + name + " ran");
        }
    }

    private static String tail(Path output) {
        String text = Place.tail(output, 0).strip();
        return text.substring(Math.max(0, text.length() - TAIL));
    }
}
