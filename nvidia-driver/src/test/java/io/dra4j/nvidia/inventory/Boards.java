// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.inventory.NodeDevices.Settings;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

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

    /** A node with so many boards as the first of this one, in MIG mode and undivided. */
    static NodeDevices dividable(Path folder, String board, int boards) {
        Reading one = read(StandInNode.install(folder.resolve(board), board));
        Gpu first = one.gpus().get(0);
        List<Gpu> gpus =
                IntStream.range(0, boards).mapToObj(i -> inMigMode(first, i)).toList();
        return NodeDevices.of(
                new Reading(one.driverVersion(), one.cudaVersion(), gpus, Set.of(), Set.of(), List.of(), List.of()),
                new Settings("node-1", folder, true));
    }

    private static Gpu inMigMode(Gpu gpu, int minor) {
        Mig mig = Objects.requireNonNull(gpu.mig());
        return new Gpu(
                "GPU-" + minor,
                new PciAddress("0000:%02x:00.0".formatted(0x17 + minor)),
                minor,
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
