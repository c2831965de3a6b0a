// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A stand-in of {@code nvidia-smi}, which records its calls and has one setting of each kind for
 * each GPU; it can fail, hang, or kill the process that calls it.
 */
public final class SmiStandIn {

    private static final String SCRIPT =
            """
            #!/bin/sh
            cd '%s' || exit 1
            echo "$*" >> calls
            echo "$LD_PRELOAD" > preload
            number=$(wc -l < calls)
            if [ -f fail ] && echo "$*" | grep -q -e "$(cat fail)"; then
                echo "the stand-in fails"
                exit "$(cat code)"
            fi
            if [ -f hang ] && echo "$*" | grep -q -e "$(cat hang)"; then
                exec sleep 300
            fi
            if [ -f "before-$number" ]; then
                kill -9 $PPID
                exit 1
            fi
            case "$1" in
                compute-policy) echo "$5" > "slice-$3" ;;
                *) echo "$4" > "mode-$2" ;;
            esac
            if [ -f "after-$number" ]; then
                kill -9 $PPID
            fi
            """;

    private final Path folder;
    private final Path program;

    private SmiStandIn(Path folder, Path program) {
        this.folder = folder;
        this.program = program;
    }

    /** Installs it on a node. */
    public static SmiStandIn install(StandInNode node) throws IOException {
        Path folder = Files.createDirectories(node.folder().resolve("smi"));
        Path program = node.root().resolve("usr/bin/nvidia-smi");
        Files.writeString(program, SCRIPT.formatted(folder));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new SmiStandIn(folder, program);
    }

    /** Removes the program. */
    public void remove() throws IOException {
        Files.delete(program);
    }

    /** Returns the arguments of all calls, in their order. */
    public List<String> calls() throws IOException {
        Path calls = folder.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    /** Forgets the calls. */
    public void forgetCalls() throws IOException {
        Files.deleteIfExists(folder.resolve("calls"));
    }

    /** Returns what was preloaded in the last call. */
    public String preloaded() throws IOException {
        return Files.readString(folder.resolve("preload")).strip();
    }

    /** Returns the time slices of a GPU as their number; 0 if none were ever set. */
    public int slice(String gpu) throws IOException {
        Path file = folder.resolve("slice-" + gpu);
        return Files.exists(file) ? Integer.parseInt(Files.readString(file).strip()) : 0;
    }

    /** Lets calls fail that match a pattern, before they change anything. */
    public void failAt(String pattern, int code) throws IOException {
        Files.writeString(folder.resolve("code"), String.valueOf(code));
        Files.writeString(folder.resolve("fail"), pattern);
    }

    /** Lets calls hang that match a pattern. */
    public void hangAt(String pattern) throws IOException {
        Files.writeString(folder.resolve("hang"), pattern);
    }

    /** Lets calls succeed again. */
    public void heal() throws IOException {
        Files.deleteIfExists(folder.resolve("fail"));
        Files.deleteIfExists(folder.resolve("hang"));
    }

    /** Kills the caller in a call, by its number from 1, before or after it has an effect. */
    public void killAt(int call, boolean isBefore) throws IOException {
        Files.writeString(folder.resolve((isBefore ? "before-" : "after-") + call), "");
    }
}
