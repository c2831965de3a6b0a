// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** An administrator with nvidia-smi and modprobe, which run as separate processes. */
public final class Administrator {

    private static final Path PROGRAM = StandInNode.BUILT.resolve("hardware");

    private final Path state;

    Administrator(Path state) {
        this.state = state;
    }

    private record Outcome(int code, String text) {}

    private Outcome run(String command, int... numbers) {
        List<String> words = new ArrayList<>(List.of(PROGRAM.toString(), state.toString(), command));
        IntStream.of(numbers).mapToObj(Integer::toString).forEach(words::add);
        try {
            Process process = new ProcessBuilder(words)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Outcome(process.waitFor(), text.strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private String done(String command, int... numbers) {
        Outcome outcome = run(command, numbers);
        if (outcome.code() != 0) {
            throw new IllegalStateException(command + " returned " + outcome.code());
        }
        return outcome.text();
    }

    /**
     * Creates a GPU instance.
     *
     * @param profileId the hardware's number of its profile
     * @param start its first memory slice
     * @param computeProfiles those of its compute instances, which may be none or several
     * @return its number
     */
    public int createInstance(int gpu, int profileId, int start, int... computeProfiles) {
        int instance = Integer.parseInt(done("create", gpu, profileId, start));
        for (int profile : computeProfiles) {
            done("split", gpu, instance, profile);
        }
        return instance;
    }

    /** Destroys a GPU instance with its compute instances. */
    public void destroyInstance(int gpu, int instance) {
        done("destroy", gpu, instance);
    }

    /** Resets a GPU and returns NVML's code: 19 while a process has a session. */
    public int reset(int gpu) {
        return run("reset", gpu).code();
    }

    /** Unloads the kernel's driver and returns NVML's code: 19 while a process has a session. */
    public int unload() {
        return run("unload").code();
    }

    /** Ends all instances, as a load of the kernel's driver does. */
    public void reboot() {
        done("reboot");
    }

    /** Loads the kernel's driver. */
    public void load() {
        done("load");
    }
}
