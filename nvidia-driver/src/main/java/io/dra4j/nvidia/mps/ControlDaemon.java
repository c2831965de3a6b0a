// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.MpsProgram;
import io.dra4j.nvidia.install.ProgramCall;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Starts, queries and stops control daemons: child processes that outlive this one.
 *
 * @param program the driver's program, which is the daemon and its client
 */
record ControlDaemon(MpsProgram program, MpsNamespace namespace) {

    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(5);
    private static final Duration LONGEST_QUIT = Duration.ofSeconds(3);
    private static final int BETWEEN_QUESTIONS_MILLIS = 50;
    private static final int LONGEST_LOG = 500;
    private static final String QUESTION = "get_default_active_thread_percentage";

    /**
     * Starts a daemon, and waits for its first answer.
     *
     * @param timeout returns the time that is left
     */
    void start(GroupFolder folder, DaemonSettings settings, Supplier<Duration> timeout) {
        GroupFolder.clear(folder.pipes()); // of an earlier daemon of the group
        Path log = folder.output();
        Process process;
        try {
            process = builder(folder, settings, log).start();
        } catch (IOException e) {
            throw new DraException("The MPS daemon can't be started: " + e.getMessage(), e);
        }
        Duration left = timeout.get();
        long end = System.nanoTime() + left.toNanos();
        while (!answers(folder, min(Duration.ofNanos(end - System.nanoTime()), LONGEST_ANSWER))) {
            if (hasEnded(process)) {
                throw new DraException("The MPS daemon ended with exit code %d before it was ready: %s"
                        .formatted(process.exitValue(), tail(log)));
            }
            if (System.nanoTime() >= end) {
                throw new DraException(
                        "The MPS daemon does not answer within %d ms: %s".formatted(left.toMillis(), tail(log)));
            }
        }
    }

    private ProcessBuilder builder(GroupFolder folder, DaemonSettings settings, Path log) {
        List<String> command = new ArrayList<>(List.of(program.file().toString(), "-f"));
        if (settings.multiUser()) {
            command.add("-M");
        }
        ProcessBuilder builder = new ProcessBuilder(namespace.running(folder.memory(), command))
                .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(log.toFile()) // emptied, since it would grow with each restart
                .redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(program.environment(folder.libraries()));
        environment.put(DaemonProcesses.VARIABLE, folder.pipes().toString());
        environment.put("CUDA_MPS_LOG_DIRECTORY", folder.logs().toString());
        environment.put("CUDA_VISIBLE_DEVICES", String.join(",", settings.devices()));
        return builder;
    }

    private static boolean hasEnded(Process process) {
        try {
            return process.waitFor(BETWEEN_QUESTIONS_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DraException("The wait for an MPS daemon was interrupted", e);
        }
    }

    /** Returns the end of a daemon's output, which may be larger than memory. */
    static String tail(Path log) {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            byte[] last = new byte[(int) Math.min(file.length(), LONGEST_LOG)];
            file.seek(file.length() - last.length);
            file.readFully(last);
            String end = new String(last, StandardCharsets.UTF_8).strip();
            return end.isEmpty() ? "it has logged nothing" : end;
        } catch (IOException e) {
            return "its log can't be read: " + e.getMessage();
        }
    }

    boolean answers(GroupFolder folder, Duration timeout) {
        return ask(folder, QUESTION, timeout).isSuccess();
    }

    void limit(GroupFolder folder, DaemonSettings settings, Supplier<Duration> timeout) {
        for (String command : settings.commands()) {
            ProgramCall answer = ask(folder, command, timeout.get());
            if (!answer.isSuccess()) {
                String why =
                        answer.code() == null ? "it did not answer in time" : ProgramCall.shortened(answer.output());
                throw new DraException("The MPS daemon did not accept \"%s\": %s".formatted(command, why));
            }
        }
    }

    private ProgramCall ask(GroupFolder folder, String command, Duration timeout) {
        ProcessBuilder builder = new ProcessBuilder(program.file().toString());
        builder.environment().put(DaemonProcesses.VARIABLE, folder.pipes().toString());
        try {
            return ProgramCall.run(builder, command + "\n", timeout);
        } catch (IOException e) {
            throw new DraException("%s can't be started: %s".formatted(program.file(), e), e);
        }
    }

    /** Stops a daemon and its server: on request, or else by force. */
    void stop(GroupFolder folder, Supplier<Duration> timeout) {
        if (DaemonProcesses.of(folder).isEmpty()) {
            return;
        }
        Duration longest = min(timeout.get(), LONGEST_QUIT);
        if (asksToQuit(folder, longest)) {
            DaemonProcesses.haveEnded(folder, longest);
        }
        DaemonProcesses.kill(folder, timeout.get());
    }

    private boolean asksToQuit(GroupFolder folder, Duration timeout) {
        try {
            return ask(folder, "quit", timeout).isSuccess();
        } catch (DraException e) {
            return false; // the driver's programs are gone
        }
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
