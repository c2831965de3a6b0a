// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.PciAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The groups of GPUs that NVLink connects, directly or through switches: each connected component of
 * the graph is a group, named by the first of its GPUs.
 */
final class NvlinkGroups {

    private final Map<PciAddress, String> groups = new HashMap<>();

    /**
     * Finds the groups.
     *
     * @param gpus all GPUs of the node, in the order of their PCI addresses
     */
    NvlinkGroups(List<Gpu> gpus) {
        Map<PciAddress, Set<PciAddress>> graph = new HashMap<>();
        for (Gpu gpu : gpus) {
            for (PciAddress other : gpu.links()) {
                graph.computeIfAbsent(gpu.pci(), key -> new HashSet<>()).add(other);
                graph.computeIfAbsent(other, key -> new HashSet<>()).add(gpu.pci());
            }
        }
        for (Gpu gpu : gpus) {
            if (graph.containsKey(gpu.pci()) && !groups.containsKey(gpu.pci())) {
                mark(gpu.pci(), graph);
            }
        }
    }

    private void mark(PciAddress first, Map<PciAddress, Set<PciAddress>> graph) {
        Deque<PciAddress> open = new ArrayDeque<>(List.of(first));
        while (!open.isEmpty()) {
            PciAddress next = open.pop();
            if (groups.putIfAbsent(next, first.text()) == null) {
                open.addAll(graph.getOrDefault(next, Set.of()));
            }
        }
    }

    /** Returns the group of a GPU; empty if none of its links is active. */
    Optional<String> of(Gpu gpu) {
        return Optional.ofNullable(groups.get(gpu.pci()));
    }
}
