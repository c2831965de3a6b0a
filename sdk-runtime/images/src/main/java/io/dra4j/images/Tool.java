// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
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
        Ended ended = run(new ProcessBuilder(command).redirectErrorStream(true));
        if (ended.status != 0) {
            String words = command.stream()
                    .filter(word -> !word.contains("\n")) // a script would hide why
                    .collect(Collectors.joining(" "));
            throw new ImageBuildException("%s ended with status %d: %s".formatted(words, ended.status, ended.output));
        }
        return ended.output;
    }

    /** Runs a program and returns its output without errors, unless it does not exist or its exit status is not 0. */
    static Optional<String> tried(List<String> command) {
        try {
            Ended ended = run(new ProcessBuilder(command).redirectError(Redirect.DISCARD));
            return ended.status == 0 ? Optional.of(ended.output) : Optional.empty();
        } catch (ImageBuildException e) {
            return Optional.empty();
        }
    }

    private static Ended run(ProcessBuilder builder) {
        String program = builder.command().get(0);
        try {
            Process process = builder.directory(Path.of("/").toFile()).start();
            process.getOutputStream().close();
            byte[] output = process.getInputStream().readAllBytes();
            return new Ended(process.waitFor(), new String(output, StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            throw new ImageBuildException("Can't run " + program + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageBuildException(program + " was interrupted", e);
        }
    }

    private record Ended(int status, String output) {}
}
