// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.SmiException.Outcome;
import io.dra4j.nvidia.node.DriverFinder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The program {@code nvidia-smi} below the driver root, for settings without a public NVML call.
 *
 * <p>GPUs are named by their UUIDs or PCI addresses. A call is killed at its timeout, and throws an
 * {@link SmiException} if the program is missing or fails. Thread-safe.
 */
public record NvidiaSmi(DriverFinder driver) {

    private static final Logger LOG = LoggerFactory.getLogger(NvidiaSmi.class);
    private static final String PROGRAM = "nvidia-smi";
    private static final String PRELOAD = "LD_PRELOAD";

    /** Exit codes: no GPU found, driver not loaded, GPU fallen off the bus. */
    private static final Set<Integer> GONE = Set.of(6, 9, 15);

    public static final Set<String> COMPUTE_MODES = Set.of("DEFAULT", "EXCLUSIVE_PROCESS", "PROHIBITED");

    private static final Pattern TIME_SLICE =
            Pattern.compile("timeslice\\W+(default|short|medium|long)\\b", Pattern.CASE_INSENSITIVE);

    public void setComputeMode(String gpu, String mode, Duration timeout) {
        run(timeout, "-i", gpu, "-c", mode);
    }

    /**
     * Sets the time slices of a GPU.
     *
     * @param number 0 for the driver's default, 1 to 3 for short to long
     */
    public void setTimeSlice(String gpu, int number, Duration timeout) {
        run(timeout, "compute-policy", "-i", gpu, "--set-timeslice", String.valueOf(number));
    }

    /**
     * Undoes a setting, or logs that its GPU, and thus the setting, is gone.
     *
     * @throws SmiException if that fails, and the GPU may still have the setting
     */
    public static void unlessGone(String gpu, Runnable undo) {
        try {
            undo.run();
        } catch (SmiException e) {
            if (e.outcome() != Outcome.GONE) {
                throw e;
            }
            LOG.atWarn().setCause(e).addKeyValue("gpu", gpu).log("GPU that a claim shared no longer exists");
        }
    }

    public void requireThere() {
        driver.findProgram(PROGRAM);
    }

    /**
     * Returns the compute mode of a GPU, as {@link #setComputeMode} takes it; warnings around it are skipped.
     *
     * @throws SmiException also if the program does not answer with a mode
     */
    public String computeMode(String gpu, Duration timeout) {
        String answer = call(timeout, "-i", gpu, "--query-gpu=compute_mode", "--format=csv,noheader");
        return answer.lines()
                .map(line -> line.strip().toUpperCase(Locale.ROOT))
                .filter(COMPUTE_MODES::contains)
                .findFirst()
                .orElseThrow(() -> new SmiException(
                        "nvidia-smi answers \"%s\" for the compute mode of %s, which is not one of %s; see what nvidia-smi shows on the node"
                                .formatted(ProgramCall.shortened(answer), gpu, new TreeSet<>(COMPUTE_MODES)),
                        Outcome.UNCHANGED,
                        null));
    }

    /**
     * Returns the time slices of a GPU, in the words of configurations and in lower case.
     *
     * @return empty if the installed driver does not show them
     */
    public Optional<String> timeSlice(String gpu, Duration timeout) {
        try {
            Matcher found = TIME_SLICE.matcher(call(timeout, "compute-policy", "-i", gpu, "--list"));
            return found.find() ? Optional.of(found.group(1).toLowerCase(Locale.ROOT)) : Optional.empty();
        } catch (SmiException e) {
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Time slices unknown");
            return Optional.empty();
        }
    }

    /** Returns whether a GPU stays initialized without users. */
    public boolean isPersistent(String gpu, Duration timeout) {
        return call(timeout, "-i", gpu, "--query-gpu=persistence_mode", "--format=csv,noheader")
                .lines()
                .anyMatch(line -> line.strip().equals("Enabled"));
    }

    public void setPersistent(String gpu, boolean isOn, Duration timeout) {
        run(timeout, "-i", gpu, "-pm", isOn ? "1" : "0");
    }

    private void run(Duration timeout, String... arguments) {
        call(timeout, arguments);
        LOG.atInfo()
                .addKeyValue("call", PROGRAM + " " + String.join(" ", arguments))
                .log("Changed a setting of a GPU");
    }

    private String call(Duration timeout, String... arguments) {
        String call = PROGRAM + " " + String.join(" ", arguments);
        ProgramCall ended = ended(call, timeout, arguments);
        Integer code = ended.code();
        if (code == null) {
            throw new SmiException(
                    "%s did not end within %d ms, and was killed".formatted(call, timeout.toMillis()),
                    Outcome.UNKNOWN,
                    null);
        }
        if (code != 0) {
            throw new SmiException(
                    "%s failed with exit code %d: %s".formatted(call, code, ProgramCall.shortened(ended.output())),
                    GONE.contains(code) ? Outcome.GONE : Outcome.UNCHANGED,
                    null);
        }
        return ended.output();
    }

    private ProgramCall ended(String call, Duration timeout, String... arguments) {
        try {
            List<String> command = new ArrayList<>();
            command.add(driver.findProgram(PROGRAM).toString());
            command.addAll(List.of(arguments));
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().merge(PRELOAD, driver.findNvml().toString(), (before, own) -> own + ":" + before);
            return ProgramCall.run(builder, "", timeout);
        } catch (DraException e) {
            throw new SmiException(String.valueOf(e.getMessage()), Outcome.UNCHANGED, e);
        } catch (IOException e) {
            throw new SmiException("%s can't be started: %s".formatted(call, e.getMessage()), Outcome.UNCHANGED, e);
        }
    }
}
