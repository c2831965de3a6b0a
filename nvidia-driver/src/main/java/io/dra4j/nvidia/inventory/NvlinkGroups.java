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

    // By PCI addresses as texts: the hash code of a record costs the start of the driver some milliseconds.
    private final Map<String, String> groups = new HashMap<>();

    /**
     * Finds the groups.
     *
     * @param gpus all GPUs of the node, in the order of their PCI addresses
     */
    NvlinkGroups(List<Gpu> gpus) {
        Map<String, Set<String>> graph = new HashMap<>();
        for (Gpu gpu : gpus) {
            String address = gpu.pci().text();
            for (PciAddress other : gpu.links()) {
                graph.computeIfAbsent(address, key -> new HashSet<>()).add(other.text());
                graph.computeIfAbsent(other.text(), key -> new HashSet<>()).add(address);
            }
        }
        gpus.stream().map(gpu -> gpu.pci().text()).filter(graph::containsKey).forEach(gpu -> mark(gpu, graph));
    }

    /** Marks a component, unless that is done. */
    private void mark(String first, Map<String, Set<String>> graph) {
        Deque<String> open = new ArrayDeque<>(List.of(first));
        while (!open.isEmpty()) {
            String next = open.pop();
            if (groups.putIfAbsent(next, first) == null) {
                open.addAll(graph.getOrDefault(next, Set.of()));
            }
        }
    }

    /** Returns the group of a GPU; empty if none of its links is active. */
    Optional<String> of(Gpu gpu) {
        return Optional.ofNullable(groups.get(gpu.pci().text()));
    }
}
