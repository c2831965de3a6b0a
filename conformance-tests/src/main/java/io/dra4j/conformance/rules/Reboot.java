// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The node of a bench goes down and up again, as far as a driver can tell. */
final class Reboot {

    private static final int FORMAT = 0xf000;
    private static final int SOCKET = 0xc000;

    private Reboot() {}

    /**
     * Kills the driver, empties the CDI directory, which is on a file system in memory, removes the
     * sockets, lets the settings' hook do what else there is, and starts the driver.
     */
    static void of(Bench bench) throws IOException {
        bench.driver().kill();
        bench.transcript().note("reboot: the CDI directory is empty, the sockets are gone");
        try (Stream<Path> specs = Files.list(bench.cdi().folder())) {
            remove(specs.filter(Files::isRegularFile).toList());
        }
        removeSockets(bench.place().registry());
        removeSockets(bench.place().plugins());
        if (bench.hooks().has("reboot")) {
            bench.hooks().run("reboot");
        }
        bench.driver().restarted();
    }

    private static void removeSockets(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            remove(all.filter(Reboot::isSocket).toList());
        }
    }

    private static boolean isSocket(Path file) {
        try {
            int mode = (Integer) Files.getAttribute(file, "unix:mode");
            return (mode & FORMAT) == SOCKET;
        } catch (IOException e) {
            return false; // gone since it was listed
        }
    }

    private static void remove(List<Path> files) throws IOException {
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
