// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.vfio.Passthrough;
import java.util.List;
import java.util.function.Supplier;

/** Reads the GPUs of a node: those that NVML reports, and those of virtual machines. */
record SnapshotReader(Nvml nvml, NodeDevices.Settings settings, Passthrough passthrough) {

    /**
     * Reads the node.
     *
     * @param held returns the claims that are held, at each call
     * @param known the GPUs as NVML reported them at any time, the latest first
     * @throws io.dra4j.nvidia.nvml.NvmlException if NVML can't be read: unknown is not none
     */
    Snapshot read(Supplier<List<HeldClaim>> held, List<Gpu> known) {
        String installed = nvml.fingerprint();
        PassthroughGpus before = passthrough.gpus(held.get());
        Reading reading = before.readOthers(nvml::read);
        PassthroughGpus machines = before.after(reading.gpus(), Passthrough.lent(held.get()), known);
        return new Snapshot(installed, reading, NodeDevices.of(reading, settings, machines), machines.away());
    }
}
