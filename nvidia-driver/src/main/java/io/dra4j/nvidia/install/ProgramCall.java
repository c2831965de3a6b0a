// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A program that ran to its end, or was killed at a timeout with all its children.
 *
 * @param code the exit code; null if it was killed
 * @param output the start of its output
 */
public record ProgramCall(@Nullable Integer code, String output) {

    private static final int LONGEST_OUTPUT = 1 << 16; // of a pipe
    private static final int LONGEST_MESSAGE = 500;
    private static final int KILL_SECONDS = 1;

    private static final Pattern BUSY =
            Pattern.compile("error(=|: )26\\b"); // ETXTBSY, in the words of JDK 17 and of JDK 25
    private static final int TRIES = 100;
    private static final long PAUSE_NANOS = 10_000_000;

    /**
     * Runs a program that prints little.
     *
     * @param timeout it is killed afterwards
     * @throws IOException if it can't be started
     */
    public static ProgramCall run(ProcessBuilder program, String input, Duration timeout) throws IOException {
        Process process = start(program.redirectErrorStream(true));
        boolean hasEnded = false;
        try {
            write(process, input);
            hasEnded = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            kill(process);
        }
        return hasEnded ? new ProgramCall(process.exitValue(), output(process)) : new ProgramCall(null, "");
    }

    /**
     * Starts a program, which may have just been written: a child that another thread starts at the same moment
     * inherits the open file, and the kernel does not run a file that is open for writing. The child closes it within
     * milliseconds.
     */
    private static Process start(ProcessBuilder program) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return program.start();
            } catch (IOException e) {
                if (attempt == TRIES
                        || !BUSY.matcher(String.valueOf(e.getMessage())).find()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    public boolean isSuccess() {
        return code != null && code == 0;
    }

    /** Returns the start of an output, for a message. */
    public static String shortened(String output) {
        return output.substring(0, Math.min(output.length(), LONGEST_MESSAGE));
    }

    private static void write(Process process, String input) {
        try (OutputStream to = process.getOutputStream()) {
            to.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            return; // it has ended without reading, and its exit code says why
        }
    }

    private static void kill(Process process) {
        if (!process.isAlive()) {
            return;
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        try {
            process.destroyForcibly().waitFor(KILL_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String output(Process process) {
        try {
            byte[] output = process.getInputStream().readNBytes(LONGEST_OUTPUT);
            return new String(output, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "its output can't be read: " + e.getMessage();
        }
    }
}
