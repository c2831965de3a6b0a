// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the node's GPUs once, when the first check needs them. */
final class NodeReading {

    private final InstallOptions install;
    private final Path procRoot;
    private @Nullable Reading reading;

    NodeReading(InstallOptions install, Path procRoot) {
        this.install = install;
        this.procRoot = procRoot;
    }

    Path library() {
        return install.installation(procRoot).library();
    }

    /**
     * Returns whether all GPUs are bound to vfio-pci: NVIDIA's driver is not needed then.
     *
     * @throws NotCheckedException if GPUs may be assigned to virtual machines, and the bus can't be read
     */
    boolean isForMachines() {
        return install.isPassthrough()
                && PassthroughGpus.of(onBus(bus()), Set.of()).areAllBound();
    }

    /** Returns the GPUs on the bus that are bound to NVIDIA's driver. */
    List<PciFunction> ofNvidiasDriver() {
        return onBus(bus()).stream()
                .filter(gpu -> gpu.isBoundTo(PassthroughGpus.NVIDIA))
                .toList();
    }

    private PciBus bus() {
        return new PciBus(install.sysfs());
    }

    /**
     * Returns the GPUs of a bus.
     *
     * @throws NotCheckedException if it can't be read, or is not there: unknown does not mean none
     */
    static List<PciFunction> onBus(PciBus bus) {
        Path folder = bus.sysfs().resolve("bus/pci");
        if (!Files.isDirectory(folder)) {
            throw new NotCheckedException(
                    "there is no folder %s: is %s the node's sysfs?".formatted(folder, bus.sysfs()));
        }
        try {
            return bus.gpus();
        } catch (DraException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }

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
