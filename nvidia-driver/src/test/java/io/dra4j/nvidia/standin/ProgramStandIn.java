// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/**
 * A stand-in of a program of the driver, a script that records its calls, with those of the node's
 * other programs in their order; it can fail, hang, or kill the process that calls it.
 */
public abstract class ProgramStandIn {

    private final Path folder;
    private final Path program;

    /** A script calls record with its call, and after once it has done what it does. */
    ProgramStandIn(StandInNode node, String name, String script) throws IOException {
        folder = Files.createDirectories(node.folder().resolve("calls"));
        program = node.root().resolve("usr/bin").resolve(name);
        Files.writeString(program, StandInNode.text("standin/program.sh").formatted(folder) + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    final Path folder() {
        return folder;
    }

    /** Removes the program. */
    public final void remove() throws IOException {
        Files.delete(program);
    }

    /** Returns the calls of all programs, in their order. */
    public final List<String> calls() throws IOException {
        Path calls = folder.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    /** Forgets the calls. */
    public final void forgetCalls() throws IOException {
        Files.deleteIfExists(folder.resolve("calls"));
    }

    /** Lets calls fail that match a pattern, before they change anything. */
    public final void failAt(String pattern, int code) throws IOException {
        Files.writeString(folder.resolve("code"), String.valueOf(code));
        Files.writeString(folder.resolve("fail"), pattern);
    }

    /** Lets calls hang that match a pattern. */
    public final void hangAt(String pattern) throws IOException {
        Files.writeString(folder.resolve("hang"), pattern);
    }

    /** Returns the process of the last call that hung, unless it has ended. */
    public final Optional<ProcessHandle> hanging() throws IOException {
        Path hung = folder.resolve("hung");
        return Files.exists(hung)
                ? ProcessHandle.of(Long.parseLong("0" + Files.readString(hung).strip()))
                : Optional.empty();
    }

    /** Lets calls succeed again. */
    public final void heal() throws IOException {
        Files.deleteIfExists(folder.resolve("fail"));
        Files.deleteIfExists(folder.resolve("hang"));
    }

    /** Kills the caller in a call, by its number from 1, before or after it has an effect. */
    public final void killAt(int call, boolean isBefore) throws IOException {
        Files.writeString(folder.resolve((isBefore ? "before-" : "after-") + call), "");
    }

    /** Returns whether a caller was killed since {@link #killNone}. */
    public final boolean hasKilled() {
        return Files.exists(folder.resolve("killed"));
    }

    /** Stops killing callers. */
    public final void killNone() throws IOException {
        Files.deleteIfExists(folder.resolve("killed"));
        try (var files = Files.newDirectoryStream(folder, "{before,after}-*")) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }
}
