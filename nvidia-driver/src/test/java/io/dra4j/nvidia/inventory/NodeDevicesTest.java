// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The devices that boards become; expected values are those of NVIDIA's documents. */
class NodeDevicesTest {

    private static final String PCIE_ROOT = "resource.kubernetes.io/pcieRoot";
    private static final String PCI_BUS_ID = "resource.kubernetes.io/pciBusID";
    private static final String NUMA_NODE = "resource.kubernetes.io/numaNode";

    @TempDir
    private Path folder;

    private StandInNode node(String boards) {
        return StandInNode.install(folder, boards);
    }

    private static Pool pool(NodeDevices devices) {
        return devices.inventory().pool(new PoolName("node-1")).orElseThrow();
    }

    private static Device device(NodeDevices devices, String name) {
        return devices.inventory()
                .device(new PoolName("node-1"), new DeviceName(name))
                .orElseThrow(() -> new AssertionError(name + " is not among " + names(devices)));
    }

    private static List<String> names(NodeDevices devices) {
        return pool(devices).devices().stream()
                .map(device -> device.name().value())
                .toList();
    }

    /** Attributes as a test writes them down. */
    private static Map<String, String> attributes(Device device) {
        Map<String, String> texts = new LinkedHashMap<>();
        device.attributes().forEach((name, value) -> texts.put(name, text(value)));
        return texts;
    }

    private static String text(AttributeValue value) {
        if (value instanceof AttributeValue.OfString string) {
            return string.value();
        }
        if (value instanceof AttributeValue.OfInt number) {
            return "int " + number.value();
        }
        if (value instanceof AttributeValue.OfInts numbers) {
            return "ints " + numbers.values();
        }
        return "version " + ((AttributeValue.OfVersion) value).value();
    }

    private static Map<String, String> capacities(Device device) {
        return device.capacities().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> text(each.getValue().value())));
    }

    private static Map<String, String> texts(Map<String, Quantity> amounts) {
        return amounts.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, each -> text(each.getValue())));
    }

    private static String text(Quantity quantity) {
        return quantity.amount().toBigIntegerExact().toString();
    }

    private static String mebibytes(long amount) {
        return Long.toString(amount * 1024 * 1024);
    }

    @Nested
    class AWholeGpu {

        @Test
        void hasItsAttributesAndAddress() {
            NodeDevices devices = Boards.devices(node("h100-80"), false);
            Device gpu = device(devices, "gpu-5");

            assertThat(attributes(gpu))
                    .containsEntry("type", "gpu")
                    .containsEntry("productName", "NVIDIA H100 80GB HBM3")
                    .containsEntry("brand", "Nvidia")
                    .containsEntry("architecture", "Hopper")
                    .containsEntry("cudaComputeCapability", "version 9.0.0")
                    .containsEntry("driverVersion", "version 550.163.1")
                    .containsEntry("cudaDriverVersion", "version 12.4.0")
                    .containsEntry(PCIE_ROOT, "pci0000:00")
                    .containsEntry(NUMA_NODE, "int 1")
                    .hasEntrySatisfying(PCI_BUS_ID, id -> assertThat(id).matches("0000:[0-9a-f]{2}:00\\.0"))
                    .hasEntrySatisfying("uuid", id -> assertThat(id).startsWith("GPU-"))
                    .doesNotContainKeys("nvlinkGroup", "nvlinkClique", "parentUUID", "profile");
            assertThat(capacities(gpu)).isEqualTo(Map.of("memory", mebibytes(81559)));
            assertThat(pool(devices).counterSets()).isEmpty();
        }

        @Test
        void leavesOutAttributesThatSysfsLacks() throws IOException {
            StandInNode node = node("t4");
            Path gpus = node.sysfs().resolve("bus/pci/devices");
            String first = text(
                    device(Boards.devices(node, false), "gpu-0").attributes().get(PCI_BUS_ID));
            Files.delete(gpus.resolve(first));
            String second = text(
                    device(Boards.devices(node, false), "gpu-1").attributes().get(PCI_BUS_ID));
            Files.writeString(gpus.resolve(second).resolve("numa_node"), "-1\n");

            NodeDevices devices = Boards.devices(node, false);

            assertThat(attributes(device(devices, "gpu-0")))
                    .containsEntry(PCI_BUS_ID, first)
                    .doesNotContainKeys(PCIE_ROOT, NUMA_NODE);
            assertThat(attributes(device(devices, "gpu-1")))
                    .containsEntry(PCIE_ROOT, "pci0000:00")
                    .doesNotContainKey(NUMA_NODE);
            assertThat(attributes(device(devices, "gpu-2"))).containsEntry(NUMA_NODE, "int 0");
        }
    }

    @Nested
    class Numa {

        private static void write(Path file, String line) throws IOException {
            Files.writeString(Files.createDirectories(file.getParent()).resolve(file.getFileName()), line + "\n");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
                2 | 0:0-71 2:          | 80 120 10 | int 0 | ints [2, 0]
                1 | 0:0@0 1: 2:        | 80 10 255 | int 0 | ints [1, 0]
                2 | 0:0@0 1: 2:        | 80 40 10  | int 0 | ints [2, 1, 0]
                8 | 0:0@0 1:72@1 8:    | 120 80 10 | int 1 | ints [8, 1]
                2 | 0:0@0 2:           | ?         | none  | ints [2]
                0 | 0:0@0 1:4@0 2:8@1  | 10 12 12  | int 0 | ints [0, 1]
                1 | 0:0@0 1:4@1        | 21 10     | int 1 | ints [1]
                """)
        void nodeIsTheNearestThatHasCpus(
                String own, String nodes, String distances, @Nullable String scalar, String list) throws IOException {
            StandInNode node = node("l40s");
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

            assertThat(attributes(device(Boards.devices(node, false), "gpu-0")).get(NUMA_NODE))
                    .isEqualTo(scalar);
            assertThat(attributes(device(lists, "gpu-0"))).containsEntry(NUMA_NODE, list);
        }
    }

    @Nested
    class Nvlink {

        private NodeDevices devices;

        @BeforeEach
        void read() {
            devices = Boards.devices(node("nvlink"), false);
        }

        private String of(String gpu, String attribute) {
            return attributes(device(devices, gpu)).get(attribute);
        }

        /** A claim's {@code matchAttribute}: all have the attribute, and the same value of it. */
        private boolean match(String attribute, String... gpus) {
            return Stream.of(gpus)
                                    .map(gpu -> Optional.ofNullable(of(gpu, attribute)))
                                    .distinct()
                                    .count()
                            == 1
                    && of(gpus[0], attribute) != null;
        }

        @Test
        void groupsAreWhatLinksConnect() {
            assertThat(of("gpu-0", "nvlinkGroup")).isEqualTo(of("gpu-0", PCI_BUS_ID));
            assertThat(of("gpu-2", "nvlinkGroup")).isEqualTo(of("gpu-2", PCI_BUS_ID));
            assertThat(match("nvlinkGroup", "gpu-0", "gpu-1")).isTrue();
            assertThat(match("nvlinkGroup", "gpu-2", "gpu-3")).isTrue();
            assertThat(match("nvlinkGroup", "gpu-1", "gpu-2")).isFalse();
            assertThat(match("nvlinkGroup", "gpu-0", "gpu-1", "gpu-2")).isFalse();
        }

        @Test
        void aGpuWithoutLinksHasNoGroupAndMatchesNoOther() {
            assertThat(of("gpu-4", "nvlinkGroup")).isNull();
            assertThat(match("nvlinkGroup", "gpu-4", "gpu-0")).isFalse();
            assertThat(match("nvlinkGroup", "gpu-4")).isFalse();
        }

        @Test
        void cliquesAreThoseOfTheFabricOnceItIsUp() {
            assertThat(of("gpu-0", "nvlinkClique")).isEqualTo("01234567-89ab-cdef-0123-456789abcdef.7");
            assertThat(of("gpu-2", "nvlinkClique")).isEqualTo("01234567-89ab-cdef-0123-456789abcdef.8");
            assertThat(match("nvlinkClique", "gpu-0", "gpu-1")).isTrue();
            assertThat(match("nvlinkClique", "gpu-0", "gpu-2")).isFalse();
            assertThat(of("gpu-3", "nvlinkClique")).isNull();
            assertThat(of("gpu-4", "nvlinkClique")).isNull();
        }
    }

    @Nested
    class StaticMig {

        private NodeDevices devices;

        @BeforeEach
        void read() {
            devices = Boards.devices(node("a100-40-divided"), false);
        }

        @Test
        void isWhatTheAdministratorMade() {
            assertThat(names(devices))
                    .containsExactlyInAnyOrder(
                            "gpu-0-mig-1g5gb-19-0",
                            "gpu-0-mig-1g5gb-19-1",
                            "gpu-0-mig-1g5gb-19-2",
                            "gpu-0-mig-1g5gb-19-3",
                            "gpu-0-mig-1g5gb-19-4",
                            "gpu-0-mig-1g5gb-19-5",
                            "gpu-0-mig-1g5gb-19-6",
                            "gpu-1-mig-2g10gb-14-0",
                            "gpu-1-mig-1g5gb-19-2",
                            "gpu-1-mig-1g5gb-me-20-3",
                            "gpu-1-mig-3g20gb-9-4");
            assertThat(pool(devices).counterSets()).isEmpty();
        }

        @Test
        void hasTheAttributesOfItsGpuAndItsOwn() {
            assertThat(attributes(device(devices, "gpu-1-mig-1g5gb-me-20-3")))
                    .containsEntry("type", "mig")
                    .containsEntry("profile", "1g.5gb+me")
                    .containsEntry("productName", "NVIDIA A100-SXM4-40GB")
                    .containsEntry("brand", "Nvidia")
                    .containsEntry("architecture", "Ampere")
                    .containsEntry("cudaComputeCapability", "version 8.0.0")
                    .containsEntry("driverVersion", "version 550.163.1")
                    .containsEntry("cudaDriverVersion", "version 12.4.0")
                    .containsEntry(PCIE_ROOT, "pci0000:00")
                    .containsEntry(NUMA_NODE, "int 0")
                    .containsKey(PCI_BUS_ID)
                    .hasEntrySatisfying("uuid", id -> assertThat(id).startsWith("MIG-"))
                    .hasEntrySatisfying("parentUUID", id -> assertThat(id).startsWith("GPU-"));
        }

        @Test
        void hasTheCapacitiesOfItsProfileAndItsMemorySlices() {
            assertThat(capacities(device(devices, "gpu-1-mig-1g5gb-me-20-3")))
                    .isEqualTo(engines(14, 1, 1, 1, 1, 4864, 3));
            assertThat(capacities(device(devices, "gpu-0-mig-1g5gb-19-6"))).isEqualTo(engines(14, 1, 0, 0, 0, 4864, 6));
            assertThat(capacities(device(devices, "gpu-1-mig-2g10gb-14-0")))
                    .isEqualTo(engines(28, 2, 1, 0, 0, 9984, 0, 1));
            assertThat(capacities(device(devices, "gpu-1-mig-3g20gb-9-4")))
                    .isEqualTo(engines(42, 3, 2, 0, 0, 20096, 4, 5, 6, 7));
        }

        @Test
        void hasNoMoreAttributesAndCapacitiesThanTheApiAllows() {
            StandInNode linked = StandInNode.install(folder.resolve("linked"), "h100-linked");
            linked.state().setMig(0, true);
            linked.administrator().createInstance(0, 0, 0, 4);

            Device seven = device(
                    NodeDevices.of(
                            Boards.read(linked),
                            new NodeDevices.Settings("node-1", linked.sysfs(), false, Shares.parse("8"))),
                    "gpu-0-mig-7g80gb-0-0");

            assertThat(seven.attributes().size() + seven.capacities().size()).isEqualTo(32);
            assertThat(seven.attributes())
                    .containsKeys("shareIsolation", "nvlinkGroup", "addressingMode")
                    .doesNotContainKey("nvlinkClique");
        }

        private static Map<String, String> engines(
                int sm, int ce, int dec, int jpeg, int ofa, long memory, int... slices) {
            Map<String, String> all = new LinkedHashMap<>();
            all.put("multiprocessors", "" + sm);
            all.put("copyEngines", "" + ce);
            all.put("decoders", "" + dec);
            all.put("encoders", "0");
            all.put("jpegEngines", "" + jpeg);
            all.put("ofaEngines", "" + ofa);
            all.put("memory", mebibytes(memory));
            for (int slice : slices) {
                all.put("memorySlice" + slice, "1");
            }
            return all;
        }
    }

    @Nested
    class DynamicMig {

        private static final Map<String, String> ENGINES_OF_AN_A100 = Map.of(
                "multiprocessors", "98",
                "copy-engines", "7",
                "decoders", "5",
                "encoders", "0",
                "jpeg-engines", "1",
                "ofa-engines", "1");

        private static Map<String, String> allOfAnA100() {
            Map<String, String> all = new LinkedHashMap<>(ENGINES_OF_AN_A100);
            all.put("memory", mebibytes(40448));
            for (int slice = 0; slice < 8; slice++) {
                all.put("memory-slice-" + slice, "1");
            }
            return all;
        }

        @Test
        void sevenSlicesOfAnA100TakeAllThatThereIs() {
            NodeDevices devices = Boards.dividable(folder, "a100-40", 1);
            Device seven = device(devices, "gpu-0-mig-7g40gb-0-0");
            CounterConsumption takes = seven.consumesCounters().get(0);
            CounterSet set = pool(devices).counterSets().get(0);

            assertThat(seven.consumesCounters()).hasSize(1);
            assertThat(takes.counterSet()).isEqualTo("gpu-0-counter-set").isEqualTo(set.name());
            assertThat(texts(set.counters())).isEqualTo(allOfAnA100());
            assertThat(texts(takes.counters())).isEqualTo(allOfAnA100());
            assertThat(attributes(seven)).doesNotContainKey("uuid");
            assertThat(names(devices)).doesNotContain("gpu-0").hasSize(7 + 7 + 4 + 3 + 2 + 1 + 1);
        }

        @Test
        void anA100OutsideMigModeIsOfferedWhole() {
            NodeDevices devices = Boards.devices(node("a100-40"), true);

            assertThat(names(devices)).containsExactly("gpu-0", "gpu-1");
            assertThat(pool(devices).counterSets()).isEmpty();
        }

        @ParameterizedTest
        @CsvSource({"t4, 0", "h100-80, 0", "h100-80, 3", "h100-80, 999"})
        void aVgpuOutsideMigModeIsOfferedWhole(String board, int code) {
            StandInNode node = node(board);
            node.state().set(0, "virtualization", 2);
            node.state().fails("nvmlDeviceGetMigMode", 0, code, code == 0 ? 0 : -1);

            NodeDevices devices = Boards.devices(node, true);

            assertThat(names(devices))
                    .filteredOn(name -> name.matches("gpu-0(-.*)?"))
                    .containsExactly("gpu-0");
            assertThat(device(devices, "gpu-0").consumesCounters()).isEmpty();
        }

        @Test
        void instancesWithOtherThanOneComputeInstanceAsLargeAreLeftOut() {
            StandInNode node = node("h100-80");
            node.state().setMig(0, true);
            int split = node.administrator().createInstance(0, 14, 0, 0, 0);
            int half = node.administrator().createInstance(0, 14, 2, 0);
            int empty = node.administrator().createInstance(0, 19, 4);
            node.administrator().createInstance(0, 19, 5, 0);

            NodeDevices devices = Boards.devices(node, false);

            assertThat(names(devices)).hasSize(1 + 7).contains("gpu-0-mig-1g10gb-19-5");
            assertThat(devices.inventory().leftOut())
                    .extracting(LeftOut::device)
                    .containsExactlyInAnyOrder(
                            "GPU instance %d of %s"
                                    .formatted(split, node.state().uuid(0)),
                            "GPU instance %d of %s".formatted(half, node.state().uuid(0)),
                            "GPU instance %d of %s"
                                    .formatted(empty, node.state().uuid(0)));
            assertThat(devices.inventory().leftOut())
                    .extracting(LeftOut::reason)
                    .anyMatch(reason -> reason.startsWith("it has 2 compute instances (MIG-"))
                    .anyMatch(reason -> reason.contains("has 1 of its 2 compute slices"))
                    .contains("it has no compute instance");
        }

        @Test
        void unknownProfilesAreLeftOutAndReported() {
            NodeDevices devices = Boards.devices(node("odd"), true);

            assertThat(names(devices))
                    .containsExactly("gpu-0", "gpu-0-mig-1g0gb-19-0", "gpu-0-mig-1g0gb-19-1", "gpu-0-mig-2g0gb-14-0");
            assertThat(devices.inventory().leftOut())
                    .containsExactly(new LeftOut(
                            "MIG profile 77 of GPU-d7a40000-0000-4000-8000-000000000000", "unknown index 18"));
        }

        @Test
        void profilesHaveTheNamesThatNvmlHasOrThoseOfTheirSize() {
            NodeDevices devices = Boards.devices(node("gb200"), true);

            assertThat(names(devices))
                    .contains("gpu-0-mig-1g24gb-19-6", "gpu-0-mig-2g47gb-new-67-4")
                    .contains("gpu-0-mig-1g47gb-15-0", "gpu-0-mig-3g93gb-gfx-66-4")
                    .hasSize(1 + 7 + 4 + 2 + 3);
            assertThat(attributes(device(devices, "gpu-0-mig-2g47gb-new-67-4")))
                    .containsEntry("profile", "2g.47gb+new");
            StandInNode older = StandInNode.installOlder(folder.resolve("older"), "gb200");
            assertThat(names(Boards.devices(older, true))).contains("gpu-0-mig-1g23gb-19-6");
        }

        @Test
        void memoryThatIsTheMachinesIsNone() {
            NodeDevices devices = Boards.devices(node("odd"), true);

            assertThat(capacities(device(devices, "gpu-0-mig-1g0gb-19-1")))
                    .containsEntry("memory", "0")
                    .containsEntry("multiprocessors", "8")
                    .containsEntry("copyEngines", "1");
            assertThat(capacities(device(devices, "gpu-0"))).containsEntry("memory", "0");
            assertThat(texts(pool(devices).counterSets().get(0).counters()))
                    .containsEntry("memory", "0")
                    .containsEntry("memory-slice-1", "1")
                    .doesNotContainKey("memory-slice-2");
            assertThat(device(Boards.devices(new StandInNode(folder), false), "gpu-0")
                            .capacities())
                    .isEqualTo(Map.<String, Capacity>of());
        }
    }
}
