// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A run of bash in the root of the repository.
 *
 * @param status its exit status
 * @param output what it printed, errors included
 */
record Script(int status, String output) {

    static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    /** Runs a file of the repository. */
    static Script run(Map<String, String> environment, String... command) throws Exception {
        return bash(environment, "", command);
    }

    /** Looks for errors of syntax, without running anything. */
    static Script parse(String text) throws Exception {
        return bash(Map.of(), text, "-n");
    }

    private static Script bash(Map<String, String> environment, String input, String... arguments) throws Exception {
        List<String> command =
                Stream.concat(Stream.of("bash"), Stream.of(arguments)).toList();
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(ROOT.toFile()).redirectErrorStream(true);
        builder.environment().remove("GITHUB_ACTIONS");
        builder.environment().putAll(environment);
        Process process = builder.start();
        try (OutputStream script = process.getOutputStream()) {
            script.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Script(process.waitFor(), output);
    }
}
