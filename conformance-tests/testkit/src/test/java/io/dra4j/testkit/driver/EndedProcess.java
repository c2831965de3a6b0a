// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A process that has ended, and whose parent does not ask for its status: its folder in {@code
 * /proc} stays, and parts of it can't be read any more.
 */
public final class EndedProcess implements AutoCloseable {

    private final Process parent;
    private final Path folder;

    /** Starts a process, and ends it. */
    public EndedProcess() throws IOException {
        // A shell would still wait for its child; the sleep that it becomes never does.
        parent = new ProcessBuilder("sh", "-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 60").start();
        folder = Path.of("/proc", parent.inputReader().readLine());
        await(Path.of("/proc", String.valueOf(parent.pid()), "comm"), "sleep");
        parent.getOutputStream().close();
        await(folder.resolve("stat"), ") Z ");
    }

    private static void await(Path file, String text) throws IOException {
        while (!Files.readString(file).contains(text)) {
            Thread.onSpinWait();
        }
    }

    /** Returns its folder in {@code /proc}. */
    public Path folder() {
        return folder;
    }

    @Override
    public void close() {
        parent.destroyForcibly();
    }
}
