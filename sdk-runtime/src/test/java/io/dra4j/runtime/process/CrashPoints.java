// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The steps of a process on the files of some directories: counted, and the process killed at one of them, by a library that is preloaded into it ({@code src/test/c/crashpoint.c}).
 */
final class CrashPoints {

    private static final Path SOURCE = Path.of("src/test/c/crashpoint.c");
    private static final int ARMED = 0;
    private static final int COUNT = 1;
    private static final int AT = 2;
    private static final int MOMENT = 3;
    private static final int WORDS = 4;

    private final Path library;
    private final Path control;
    private final Path trace;
    private final List<Path> watched;
    private final LongBuffer page;

    /** When to die, with regard to a step. */
    enum Moment {
        BEFORE,
        /** With half of the bytes written; after the step, if it is no write. */
        HALFWAY
    }

    /** A step that was counted: a call that changes files or makes a change durable. */
    record Step(long number, String call, Path path) {

        static Step of(String line) {
            String[] parts = line.split(" ", 3);
            return new Step(Long.parseLong(parts[0]), parts[1], Path.of(parts[2]));
        }

        /** The step in words, the same for every claim. */
        String name() {
            String file = path.getFileName().toString();
            return call
                    + " "
                    + file.replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID")
                            .replaceAll("[.]d?[0-9a-f]{6,20}(?=[.]|$)", ".RANDOM");
        }
    }

    /**
     * Builds the library with the C compiler of this machine.
     *
     * @return the library, to be used for any number of processes
     */
    static Path build(Path folder) throws IOException, InterruptedException {
        Path library = folder.resolve("crashpoint.so");
        Process compiler = new ProcessBuilder(
                        "sh",
                        "-c",
                        "cc -shared -fPIC -O1 -Wall -Wextra -Werror -o '%s' %s -ldl".formatted(library, SOURCE))
                .redirectErrorStream(true)
                .start();
        String said = new String(compiler.getInputStream().readAllBytes());
        if (!compiler.waitFor(60, SECONDS) || compiler.exitValue() != 0) {
            throw new AssertionError("cc could not build " + SOURCE + ":\n" + said);
        }
        return library;
    }

    /** Watches directories of one process after the other; nothing is counted yet. */
    CrashPoints(Path library, Path folder, Path... watched) throws IOException {
        this.library = library;
        this.control = folder.resolve("crashpoint.control");
        this.trace = folder.resolve("crashpoint.trace");
        this.watched = List.of(watched);
        Files.write(control, new byte[WORDS * Long.BYTES]);
        try (FileChannel channel = FileChannel.open(control, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            page = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) WORDS * Long.BYTES)
                    .order(ByteOrder.nativeOrder())
                    .asLongBuffer();
        }
    }

    /** The environment of a process to be watched. */
    Map<String, String> environment() {
        String folders = watched.stream().map(Path::toString).collect(Collectors.joining(":"));
        return Map.of(
                "LD_PRELOAD", library.toString(),
                "CRASHPOINT_CONTROL", control.toString(),
                "CRASHPOINT_TRACE", trace.toString(),
                "CRASHPOINT_DIRS", folders);
    }

    /** Counts from here on, and lets the process die at a step. */
    void dieAt(long step, Moment moment) throws IOException {
        page.put(ARMED, 0);
        cutTrace();
        page.put(COUNT, 0);
        page.put(AT, step);
        page.put(MOMENT, moment.ordinal());
        page.put(ARMED, 1);
    }

    /** Lets all steps pass, uncounted. */
    void pass() {
        page.put(ARMED, 0);
    }

    /** The process holds the file open: it must stay the same. */
    private void cutTrace() throws IOException {
        if (Files.exists(trace)) {
            try (FileChannel channel = FileChannel.open(trace, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
        }
    }

    /** The steps that were counted, in order. */
    List<Step> steps() throws IOException {
        if (!Files.exists(trace)) {
            return List.of();
        }
        return Files.readAllLines(trace).stream().map(Step::of).toList();
    }
}
