// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A program of the build machine, which is run to its end. */
final class Tool {

    private Tool() {}

    /** Runs a program and returns what it printed; it has to exist, and to end with status 0. */
    static String output(List<String> command) {
        Ended ended = run(command);
        if (ended.status != 0) {
            String words = command.stream()
                    .filter(word -> !word.contains("\n")) // a script would hide why
                    .collect(Collectors.joining(" "));
            throw new ImageBuildException("%s ended with status %d: %s".formatted(words, ended.status, ended.output));
        }
        return ended.output;
    }

    /** Runs a program and returns what it printed, unless its exit status is not 0. */
    static Optional<String> tried(List<String> command) {
        Ended ended = run(command);
        return ended.status == 0 ? Optional.of(ended.output) : Optional.empty();
    }

    private static Ended run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(Path.of("/").toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            byte[] output = process.getInputStream().readAllBytes();
            return new Ended(process.waitFor(), new String(output, StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            throw new ImageBuildException("Can't run " + command.get(0) + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageBuildException(command.get(0) + " was interrupted", e);
        }
    }

    private record Ended(int status, String output) {}
}
