// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.inventory.NodeDevices.Settings;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The boards of the stand-in, and their devices. */
final class Boards {

    private Boards() {}

    static Reading read(StandInNode node) {
        try (Nvml nvml = Nvml.open(node.library())) {
            return nvml.read();
        }
    }

    /** The devices of a node as it is. */
    static NodeDevices devices(StandInNode node, boolean dynamicMig) {
        return NodeDevices.of(read(node), new Settings("node-1", node.sysfs(), dynamicMig));
    }

    /** A node with only the first board of this one, in MIG mode and undivided. */
    static NodeDevices dividable(Path folder, String board) {
        Reading one = read(StandInNode.install(folder.resolve(board), board));
        List<Gpu> gpus = List.of(inMigMode(one.gpus().get(0)));
        return NodeDevices.of(
                new Reading(one.driverVersion(), one.cudaVersion(), gpus, Set.of(), Set.of(), List.of(), List.of()),
                new Settings("node-1", folder, true));
    }

    private static Gpu inMigMode(Gpu gpu) {
        Mig mig = Objects.requireNonNull(gpu.mig());
        return new Gpu(
                gpu.uuid(),
                gpu.pci(),
                gpu.minor(),
                gpu.moduleId(),
                gpu.productName(),
                gpu.brand(),
                gpu.architecture(),
                gpu.computeCapability(),
                gpu.memory(),
                gpu.addressingMode(),
                gpu.fabric(),
                gpu.links(),
                new Mig(true, true, mig.profiles(), List.of(), false),
                gpu.vgpu());
    }
}
