// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The NUMA nodes and the order of devices; the rest of what boards become is in device-scenarios.txt. */
class NodeDevicesTest {

    private static final String NUMA_NODE = "resource.kubernetes.io/numaNode";

    @TempDir
    private Path folder;

    private static @Nullable String numaNode(NodeDevices devices) {
        AttributeValue value = devices.inventory()
                .device(new PoolName("node-1"), new DeviceName("gpu-0"))
                .orElseThrow()
                .attributes()
                .get(NUMA_NODE);
        return value == null ? null : value.toString();
    }

    private static void write(Path file, String line) throws IOException {
        Files.writeString(Files.createDirectories(file.getParent()).resolve(file.getFileName()), line + "\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            2 | 0:0-71 2:          | 80 120 10 | OfInt[value=0] | OfInts[values=[2, 0]]
            1 | 0:0@0 1: 2:        | 80 10 255 | OfInt[value=0] | OfInts[values=[1, 0]]
            2 | 0:0@0 1: 2:        | 80 40 10  | OfInt[value=0] | OfInts[values=[2, 1, 0]]
            8 | 0:0@0 1:72@1 8:    | 120 80 10 | OfInt[value=1] | OfInts[values=[8, 1]]
            2 | 0:0@0 2:           | ?         | none  | OfInts[values=[2]]
            0 | 0:0@0 1:4@0 2:8@1  | 10 12 12  | OfInt[value=0] | OfInts[values=[0, 1]]
            1 | 0:0@0 1:4@1        | 21 10     | OfInt[value=1] | OfInts[values=[1]]
            """)
    void nodeIsTheNearestThatHasCpus(String own, String nodes, String distances, @Nullable String scalar, String list)
            throws IOException {
        StandInNode node = StandInNode.install(folder, "l40s");
        Path system = node.sysfs().resolve("devices/system");
        String address = Boards.read(node).gpus().get(0).pci().text();
        Files.writeString(node.sysfs().resolve("bus/pci/devices/" + address + "/numa_node"), own);
        for (String each : nodes.split(" ")) {
            String[] parts = each.split("[:@]");
            write(system.resolve("node/node" + parts[0] + "/cpulist"), parts.length > 1 ? parts[1] : "");
            if (parts.length > 2) {
                write(system.resolve("cpu/cpu" + parts[1] + "/topology/physical_package_id"), parts[2]);
            }
        }
        write(system.resolve("node/node" + own + "/distance"), distances);
        NodeDevices lists = NodeDevices.of(
                Boards.read(node), new NodeDevices.Settings("node-1", node.sysfs(), false, Shares.NONE, true));

        assertThat(numaNode(Boards.devices(node, false))).isEqualTo(scalar);
        assertThat(numaNode(lists)).isEqualTo(list);
    }

    /** A claim gets the first that fits. */
    @ParameterizedTest
    @CsvFileSource(resources = "/io/dra4j/nvidia/mig-order.txt", delimiter = ':')
    void devicesAreInTheOrderThatPacksWell(String board, String order) {
        List<String> names = Stream.of(order.strip().split("; "))
                .map(profile -> profile.split(" "))
                .flatMap(parts -> parts.length == 1
                        ? Stream.of("gpu-0")
                        : Stream.of(parts).skip(1).map(place -> "gpu-0-mig-" + parts[0] + "-" + place))
                .toList();

        assertThat(Boards.dividable(folder, board).inventory().pools().get(0).devices())
                .extracting(device -> device.name().value())
                .isEqualTo(names);
    }

    /** Those of the boards above. Only one instance can have the media extensions, with the OFA. */
    @ParameterizedTest
    @CsvFileSource(resources = "/io/dra4j/nvidia/mig-order.txt", delimiter = ':')
    void countersAreTheMostThatMigDevicesTakeTogether(String board) {
        Pool pool = Boards.dividable(folder, board).inventory().pools().get(0);
        Map<String, Long> most = new HashMap<>();

        combine(
                pool.devices().stream()
                        .filter(device -> device.name().value().contains("mig"))
                        .map(device -> amounts(device.consumesCounters().get(0).counters()))
                        .toList(),
                Map.of(),
                most);

        assertThat(most).isEqualTo(amounts(pool.counterSets().get(0).counters()));
    }

    private static Map<String, Long> amounts(Map<String, Quantity> counters) {
        return counters.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> each.getValue().amount().longValueExact()));
    }

    private static void combine(List<Map<String, Long>> migs, Map<String, Long> chosen, Map<String, Long> most) {
        chosen.forEach((name, amount) -> most.merge(name, amount, Math::max));
        for (int i = 0; i < migs.size(); i++) {
            Map<String, Long> more = new HashMap<>(chosen);
            migs.get(i).forEach((name, amount) -> more.merge(name, amount, Long::sum));
            if (more.entrySet().stream()
                    .noneMatch(each -> each.getKey().matches("memory-slice-.|ofa-engines") && each.getValue() > 1)) {
                combine(migs.subList(i + 1, migs.size()), more, most);
            }
        }
    }

    /** An A100 needs a reset to leave MIG mode. */
    @Test
    void gpuInMigModeWithoutReadableProfilesIsNotOfferedWhole() {
        StandInNode node = StandInNode.install(folder, "a100-40");
        node.state().setMig(0, true);
        node.state().fails("nvmlDeviceGetGpuInstanceProfileInfoV", 0, 999, -1);

        NodeDevices devices = Boards.devices(node, true);

        assertThat(devices.offers()).containsOnlyKeys(new DeviceName("gpu-1"));
        assertThat(devices.inventory().leftOut()).hasSize(2);
    }

    @Test
    void sharesAreNotAllowedByAnEmptyOption() {
        assertThat(Shares.parse("")).isEqualTo(Shares.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "2.5", "Memory", "all", "99999999999999999999"})
    void sharesAreOneOfTheirForms(String shares) {
        assertThatThrownBy(() -> Shares.parse(shares))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"%s\" is not one of disabled, unlimited, memory, or a positive number", shares);
    }
}
