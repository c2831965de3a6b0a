// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The node's GPUs, which are read once, when the first check asks for them. */
final class NodeReading {

    private final InstallOptions install;
    private final Path procRoot;
    private @Nullable Reading reading;

    NodeReading(InstallOptions install, Path procRoot) {
        this.install = install;
        this.procRoot = procRoot;
    }

    /**
     * Finds NVML.
     *
     * @throws DraException if it is not below the driver root
     */
    Path library() {
        return install.installation(procRoot).library();
    }

    boolean hasLibrary() {
        try {
            return !library().toString().isEmpty();
        } catch (DraException e) {
            return false;
        }
    }

    /** Returns whether all GPUs are bound to vfio-pci: NVIDIA's driver need not be there then. */
    boolean isForMachines() {
        return install.passthroughGpus().areAllBound();
    }

    /**
     * Reads the GPUs.
     *
     * @throws DraException if NVML can't be used
     */
    Reading reading() {
        Reading known = reading;
        if (known == null) {
            known = isForMachines() ? install.passthroughGpus().readOthers(this::read) : read();
            reading = known;
        }
        return known;
    }

    private Reading read() {
        try (Nvml nvml = install.nvml(procRoot)) {
            return nvml.read();
        }
    }
}
