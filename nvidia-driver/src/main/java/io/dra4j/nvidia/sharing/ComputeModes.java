// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.install.SmiException.Outcome;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.state.GpuFiles;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Sets and restores the compute modes of GPUs that claims share. The previous modes are stored before the first change.
 * Thread-safe.
 */
public final class ComputeModes {

    /** The mode in which several processes can use a GPU, the driver's default. */
    public static final String DEFAULT = "DEFAULT";

    private final NvidiaSmi smi;
    private final GpuFiles files;
    private final GpuLocks locks = new GpuLocks();

    public ComputeModes(NvidiaSmi smi, GpuFiles files) {
        this.smi = smi;
        this.files = files;
    }

    /**
     * Sets a mode of GPUs, once the modes of all are known.
     *
     * @throws SmiException if that fails, or the mode of one is unknown; {@link #restore} has to follow
     */
    public void change(List<String> gpus, String mode, Supplier<Duration> timeout) {
        if (gpus.size() > 1) {
            gpus.forEach(gpu -> smi.computeMode(gpu, timeout.get()));
        }
        gpus.forEach(gpu -> locks.run(gpu, () -> {
            String had = smi.computeMode(gpu, timeout.get()); // another thread may have restored it just now
            if (!had.equals(mode)) {
                boolean isFirst = files.read(gpu).isEmpty();
                if (isFirst) {
                    files.write(gpu, List.of(had));
                }
                change(gpu, mode, isFirst, timeout);
            }
        }));
    }

    /** Runs work while no other thread changes or restores the mode of a GPU. */
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
     * Restores the stored mode of a GPU, or the driver's default if the stored text is not a mode.
     *
     * @return a notice if the previous mode is not restored; empty if it is
     * @throws SmiException if that fails now; the mode stays stored
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
                    .map(had ->
                            "the previous compute mode is unknown, because nvidia-smi had answered \"%s\": %s was set"
                                    .formatted(had, mode));
        });
    }

    private Optional<String> before(String gpu) {
        return files.read(gpu).map(lines -> String.join(" ", lines));
    }

    public boolean isToRestore(String gpu) {
        return before(gpu).isPresent();
    }

    /** Returns the GPUs whose mode is stored, or was before their driver was reloaded. */
    public List<String> gpus() {
        return files.gpus();
    }
}
