// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.NvidiaSmi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The compute modes of GPUs with MPS: only the daemon's server may use them, and they get back what
 * they had.
 *
 * <p>What they had is in a file of the group's directory, which is written before the first change.
 * It is not synced: like the modes, it need not outlive the kernel.
 *
 * @param smi reads and sets modes
 * @param moduleLoad returns what changes when the GPUs' driver is loaded again: modes do not
 *     outlive that; empty if it is unknown
 */
record ComputeModes(NvidiaSmi smi, Supplier<String> moduleLoad) {

    private static final String EXCLUSIVE = "EXCLUSIVE_PROCESS";

    /** Writes down the modes, unless they are already. */
    void remember(GroupFolder folder, List<String> gpus, Supplier<Duration> timeout) {
        if (Files.exists(folder.modes())) {
            return;
        }
        List<String> lines = new ArrayList<>(List.of(moduleLoad.get()));
        for (String gpu : gpus) {
            lines.add(gpu + " " + smi.computeMode(gpu, timeout.get()));
        }
        try {
            Path fresh = folder.path().resolve("modes.new");
            Files.write(fresh, lines);
            Files.move(fresh, folder.modes(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new DraException("Can't write %s: %s".formatted(folder.modes(), e), e);
        }
    }

    /** Lets one process use a GPU at a time. */
    void setExclusive(List<String> gpus, Supplier<Duration> timeout) {
        gpus.forEach(gpu -> smi.setComputeMode(gpu, EXCLUSIVE, timeout.get()));
    }

    /** Sets the modes that were written down, if their GPUs have their driver still. */
    void restore(GroupFolder folder, Supplier<Duration> timeout) {
        List<String> lines = lines(folder.modes());
        if (lines.isEmpty() || isEarlier(lines.get(0))) {
            return;
        }
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split(" ");
            NvidiaSmi.unlessGone(parts[0], () -> smi.setComputeMode(parts[0], parts[1], timeout.get()));
        }
    }

    private boolean isEarlier(String load) {
        String now = moduleLoad.get();
        return !now.isEmpty() && !now.equals(load);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return List.of(); // nothing was changed yet
        } catch (IOException e) {
            throw new DraException("Can't read %s: %s".formatted(file, e), e);
        }
    }
}
