// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.pci;

import io.dra4j.nvidia.nvml.PciAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The NUMA nodes of a machine. On Grace boards, the memory of a GPU is a separate node without CPUs.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/6072-dra-standard-numanode">
 *     KEP-6072</a>
 */
public record NumaNodes(PciBus bus) {

    /** The maximum number of values that the API allows in a device's lists. */
    private static final int MOST_VALUES = 48;

    /** Returns the node of a device or, if that has only memory, the nearest one with CPUs. */
    public Optional<Long> withCpus(PciAddress device) {
        return bus.numaNode(device).flatMap(this::withCpus);
    }

    /** Returns the node of a device, the nearest ones on the same socket, and the nearest one with CPUs. */
    public Optional<List<Long>> around(PciAddress device) {
        return bus.numaNode(device).map(this::around);
    }

    private Optional<Long> withCpus(long node) {
        return cpus(node).filter(String::isEmpty).isEmpty()
                ? Optional.of(node)
                : nearest(
                                node,
                                other -> cpus(other)
                                        .filter(cpus -> !cpus.isEmpty())
                                        .isPresent())
                        .findFirst();
    }

    private List<Long> around(long node) {
        Optional<Long> socket = socket(node);
        Stream<Long> near = nearest(node, other -> true)
                .filter(other ->
                        socket.isEmpty() || socket(other).or(() -> socket).equals(socket));
        return Stream.of(Stream.of(node), near, withCpus(node).stream())
                .flatMap(nodes -> nodes)
                .distinct()
                .limit(MOST_VALUES)
                .toList();
    }

    private Path system() {
        return bus.sysfs().resolve("devices/system");
    }

    private Optional<String> cpus(long node) {
        return PciBus.text(system().resolve("node/node%d/cpulist".formatted(node)));
    }

    private Optional<Long> socket(long node) {
        return cpus(node)
                .map(cpus -> "cpu/cpu%s/topology/physical_package_id".formatted(cpus.split("[-,]")[0]))
                .flatMap(file -> PciBus.text(system().resolve(file)))
                .flatMap(PciBus::parsed);
    }

    /** Returns the other nodes of a kind with the least distance, in the order of their numbers. */
    private Stream<Long> nearest(long node, Predicate<Long> kind) {
        Map<Long, Long> distances = distances(node);
        distances.keySet().removeIf(other -> other == node || !kind.test(other));
        Optional<Long> least = distances.values().stream().min(Long::compare);
        return distances.keySet().stream().filter(other -> least.equals(Optional.of(distances.get(other))));
    }

    /** The kernel writes the distances of the nodes that are online, in the order of their numbers. */
    private Map<Long, Long> distances(long node) {
        String line = PciBus.text(system().resolve("node/node%d/distance".formatted(node)))
                .orElse("");
        List<Long> row = Stream.of(line.split(" "))
                .flatMap(number -> PciBus.parsed(number).stream())
                .toList();
        String[] names = system().resolve("node").toFile().list((folder, name) -> name.matches("node[0-9]+"));
        long[] online = Stream.of(names == null ? new String[0] : names)
                .mapToLong(name -> Long.parseLong(name.substring("node".length())))
                .sorted()
                .toArray();
        Map<Long, Long> distances = new TreeMap<>();
        IntStream.range(0, row.size())
                .forEach(i -> distances.put(online.length == row.size() ? online[i] : i, row.get(i)));
        return distances;
    }
}
