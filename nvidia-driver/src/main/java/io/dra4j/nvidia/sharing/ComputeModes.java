// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.install.SmiException.Outcome;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.state.GpuFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The compute modes of GPUs that claims share: they get back what they had, which is written down
 * before the first change. Thread-safe.
 */
public final class ComputeModes {

    /** The mode in which several processes use a GPU, which is the driver's default. */
    public static final String DEFAULT = "DEFAULT";

    private final NvidiaSmi smi;
    private final GpuFiles files;
    private final GpuLocks locks = new GpuLocks();

    /**
     * Changes nothing yet.
     *
     * @param smi reads and sets modes
     * @param files the modes before
     */
    public ComputeModes(NvidiaSmi smi, GpuFiles files) {
        this.smi = smi;
        this.files = files;
    }

    /**
     * Sets a mode of GPUs, once the modes of all are known.
     *
     * @throws SmiException if that fails, or one has no mode that is known; {@link #restore} is next
     */
    public void change(List<String> gpus, String mode, Supplier<Duration> timeout) {
        if (gpus.size() > 1) {
            gpus.forEach(gpu -> smi.computeMode(gpu, timeout.get()));
        }
        gpus.forEach(gpu -> locks.with(gpu, () -> {
            String had = smi.computeMode(gpu, timeout.get()); // another thread may have restored it just now
            if (!had.equals(mode)) {
                boolean isFirst = files.read(gpu).isEmpty();
                if (isFirst) {
                    files.write(gpu, List.of(had));
                }
                change(gpu, mode, isFirst, timeout);
            }
            return true;
        }));
    }

    /** Does work while no other thread changes or restores the mode of a GPU. */
    public <T> T with(String gpu, Supplier<T> work) {
        return locks.with(gpu, work);
    }

    private void change(String gpu, String mode, boolean isFirst, Supplier<Duration> timeout) {
        try {
            smi.setComputeMode(gpu, mode, timeout.get());
        } catch (SmiException e) {
            if (isFirst && e.outcome() == Outcome.UNCHANGED) {
                files.delete(gpu);
            }
            throw e;
        }
    }

    /**
     * Gives a GPU back the mode that was written down, or the driver's default if that is not one.
     *
     * @return that it does not have the mode that it had; empty if it has
     * @throws SmiException if that fails now; the mode stays written down
     */
    public Optional<String> restore(String gpu, Supplier<Duration> timeout) {
        return locks.with(gpu, () -> {
            Optional<String> before = before(gpu);
            String mode = before.filter(NvidiaSmi.COMPUTE_MODES::contains).orElse(DEFAULT);
            if (before.isPresent()) {
                NvidiaSmi.unlessGone(gpu, () -> smi.setComputeMode(gpu, mode, timeout.get()));
            }
            files.delete(gpu);
            return before.filter(had -> !had.equals(mode))
                    .map(had -> "the compute mode before is not known, for nvidia-smi had answered \"%s\": %s was set"
                            .formatted(had, mode));
        });
    }

    private Optional<String> before(String gpu) {
        return files.read(gpu).map(lines -> String.join(" ", lines));
    }

    /** Returns whether a mode is written down. */
    public boolean isToRestore(String gpu) {
        return before(gpu).isPresent();
    }

    /** Returns the GPUs whose mode is written down, or was before their driver was loaded again. */
    public List<String> gpus() {
        return files.gpus();
    }

    /**
     * Takes over a file of an earlier version of this driver, which had one for each MPS daemon.
     *
     * @return the GPUs that it names
     */
    public List<String> adopt(Path earlier) {
        List<String> gpus = new ArrayList<>();
        for (String line : lines(earlier)) {
            String[] parts = line.split(" ", 2);
            if (parts[0].startsWith("GPU-") && !isToRestore(parts[0])) {
                files.write(parts[0], List.of(parts.length < 2 ? "" : parts[1]));
                gpus.add(parts[0]);
            }
        }
        return gpus;
    }

    private List<String> lines(Path earlier) {
        try {
            List<String> lines = Files.readAllLines(earlier);
            return lines.isEmpty() || files.isEarlier(lines.get(0)) ? List.of() : lines.subList(1, lines.size());
        } catch (IOException e) {
            return List.of(); // there is none, or it says nothing
        }
    }
}
