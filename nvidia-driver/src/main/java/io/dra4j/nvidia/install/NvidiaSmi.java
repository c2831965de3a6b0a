// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.SmiException.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The program {@code nvidia-smi} below the driver root, for settings that NVML has no public call
 * for. Thread-safe.
 */
public final class NvidiaSmi {

    private static final Logger LOG = LoggerFactory.getLogger(NvidiaSmi.class);
    private static final String PROGRAM = "nvidia-smi";
    private static final String PRELOAD = "LD_PRELOAD";
    private static final int LONGEST_OUTPUT = 500;
    private static final int KILL_SECONDS = 1;

    /** No GPU found, driver not loaded, GPU fallen off the bus. */
    private static final Set<Integer> GONE = Set.of(6, 9, 15);

    private final DriverRoot root;

    NvidiaSmi(DriverRoot root) {
        this.root = root;
    }

    /**
     * Sets the compute mode of a GPU.
     *
     * @param gpu its UUID
     * @param mode {@code DEFAULT} or {@code EXCLUSIVE_PROCESS}
     * @param timeout the program is killed afterwards
     * @throws SmiException if the program is missing or fails
     */
    public void setComputeMode(String gpu, String mode, Duration timeout) {
        run(timeout, "-i", gpu, "-c", mode);
    }

    /**
     * Sets the time slices of a GPU.
     *
     * @param gpu its UUID
     * @param number 0 for the driver's default, 1 to 3 for short to long
     * @param timeout the program is killed afterwards
     * @throws SmiException if the program is missing or fails
     */
    public void setTimeSlice(String gpu, int number, Duration timeout) {
        run(timeout, "compute-policy", "-i", gpu, "--set-timeslice", String.valueOf(number));
    }

    private void run(Duration timeout, String... arguments) {
        String call = PROGRAM + " " + String.join(" ", arguments);
        Process process = start(call, arguments);
        boolean hasEnded = false;
        try {
            hasEnded = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            kill(process);
        }
        if (!hasEnded) {
            throw new SmiException(
                    "%s did not end within %d ms, and was killed"
                            .formatted(call, timeout.toMillis()),
                    Outcome.UNKNOWN);
        }
        int code = process.exitValue();
        if (code != 0) {
            throw new SmiException(
                    "%s failed with exit code %d: %s".formatted(call, code, output(process)),
                    GONE.contains(code) ? Outcome.GONE : Outcome.UNCHANGED);
        }
        LOG.atInfo().addKeyValue("call", call).log("Changed a setting of a GPU");
    }

    private Process start(String call, String... arguments) {
        try {
            List<String> command = new ArrayList<>();
            command.add(root.findProgram(PROGRAM).toString());
            command.addAll(List.of(arguments));
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            Map<String, String> environment = builder.environment();
            environment.merge(
                    PRELOAD, root.findNvml().toString(), (before, own) -> own + ":" + before);
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (DraException e) {
            throw new SmiException(String.valueOf(e.getMessage()), Outcome.UNCHANGED, e);
        } catch (IOException e) {
            throw new SmiException(
                    "%s can't be started: %s".formatted(call, e.getMessage()),
                    Outcome.UNCHANGED,
                    e);
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
