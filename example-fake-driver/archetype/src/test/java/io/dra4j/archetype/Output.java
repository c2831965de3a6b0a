// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.archetype;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/**
 * The end of a command.
 *
 * @param status its exit status
 * @param text what it printed
 */
record Output(int status, String text) {

    static Output of(Path directory, String... command) throws IOException, InterruptedException {
        return of(directory, Map.of(), command);
    }

    static Output of(Path directory, Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(directory.toFile()).redirectErrorStream(true);
        String java = System.getProperty("java.home");
        builder.environment().put("JAVA_HOME", java);
        builder.environment().merge("PATH", java + "/bin:", (path, bin) -> bin + path);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        byte[] text = process.getInputStream().readAllBytes();
        return new Output(process.waitFor(), new String(text, StandardCharsets.UTF_8));
    }
}
