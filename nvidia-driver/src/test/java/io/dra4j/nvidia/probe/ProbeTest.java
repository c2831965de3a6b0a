// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The output of {@code probe} on boards, against values of public tables. */
class ProbeTest {

    /** Profiles of boards: name, id, placements, GiB, SM/CE/DEC/JPEG/OFA. */
    private static final Path PROFILES = Path.of("src/test/resources/io/dra4j/nvidia/probe/profiles.txt");

    @TempDir
    private Path folder;

    private Ended probe(String boards, String... more) {
        return probe(StandInNode.install(folder, boards), more);
    }

    private static Ended probe(StandInNode node, String... more) {
        List<String> args = new ArrayList<>();
        args.add("--nvidia-driver-root=" + node.root());
        args.add("--sysfs-root=" + node.sysfs());
        args.addAll(Arrays.asList(more));
        return Ended.of(new ProbeMain(), args.toArray(new String[0]));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a100-40", "a100-80", "a30", "h100-80", "h200-141", "b200"})
    void printsAllPossibleMigDevices(String board) throws IOException {
        StandInNode node = StandInNode.install(folder, board);
        for (int gpu = 0; gpu < node.state().gpus(); gpu++) {
            node.state().setMig(gpu, true);
        }

        String printed = probe(node, "--dynamic-mig", "--output=yaml").printed();

        assertThat(devices(printed))
                .filteredOn(device -> device.contains(" mig "))
                .containsExactlyInAnyOrderElementsOf(
                        expected(board, node.state().gpus()));
    }

    private static List<String> expected(String board, int gpus) throws IOException {
        List<String> devices = new ArrayList<>();
        for (String line : Files.readAllLines(PROFILES)) {
            if (!line.startsWith(board + " ")) {
                continue;
            }
            String[] row = line.split(" +");
            String name = row[1].replace(".", "").replace('+', '-');
            for (String start : row[3].split(",")) {
                for (int gpu = 0; gpu < gpus; gpu++) {
                    devices.add("gpu-%d-mig-%s-%s-%s mig %s %s %s"
                            .formatted(gpu, name, row[2], start, row[1], row[4], row[5]));
                }
            }
        }
        return devices;
    }

    /** A line for each device of some slices: name, type, profile, GiB, SM/CE/DEC/JPEG/OFA. */
    private static List<String> devices(String yaml) throws IOException {
        List<String> devices = new ArrayList<>();
        YAMLMapper mapper = new YAMLMapper();
        try (MappingIterator<JsonNode> slices = mapper.readerFor(JsonNode.class).readValues(yaml)) {
            while (slices.hasNext()) {
                slices.next().at("/spec/devices").forEach(it -> devices.add(device(it)));
            }
        }
        return devices;
    }

    private static String device(JsonNode device) {
        String memory = device.at("/capacity/memory/value").asText();
        double gib = memory.endsWith("Mi")
                ? Long.parseLong(memory.replace("Mi", "")) / 1024.0
                : Double.parseDouble(memory.replace("Gi", ""));
        return String.format(
                Locale.ROOT,
                "%s %s %s %.2f %s",
                device.get("name").asText(),
                device.at("/attributes/type/string").asText(),
                device.at("/attributes/profile/string").asText(),
                gib,
                String.join(
                        "/",
                        Stream.of("multiprocessors", "copyEngines", "decoders", "jpegEngines", "ofaEngines")
                                .map(key ->
                                        device.at("/capacity/" + key + "/value").asText())
                                .toList()));
    }

    @Nested
    class WhatANodeHas {

        @Test
        void isWholeGpusWithoutMigMode() {
            String out = probe("l40s").printed();

            assertThat(out)
                    .startsWith("NVIDIA driver 550.163.01, CUDA 12.4\n")
                    .contains("NVIDIA L40S", "46068 MiB", "not capable");
            assertThat(rows(out))
                    .containsExactly(
                            "gpu-0 gpu - 46068Mi - GPU-d7a40000-0000-4000-8000-000000000000",
                            "gpu-1 gpu - 46068Mi - GPU-d7a40001-0000-4000-8000-000000000001",
                            "gpu-2 gpu - 46068Mi - GPU-d7a40002-0000-4000-8000-000000000002",
                            "gpu-3 gpu - 46068Mi - GPU-d7a40003-0000-4000-8000-000000000003");
        }

        @Test
        void isEachBoardByItsOwnKindOnAMixedNode() {
            assertThat(rows(probe("mixed", "--dynamic-mig").printed()))
                    .hasSize(1 + 25 + 1 + 1)
                    .contains(
                            "gpu-0 gpu - 81024Mi 132 GPU-d7a40000-0000-4000-8000-000000000000",
                            "gpu-0-mig-7g80gb-0-0 mig 7g.80gb 81024Mi 132 -",
                            "gpu-1 gpu - 40Gi - GPU-d7a40001-0000-4000-8000-000000000001",
                            "gpu-2 gpu - 15Gi - GPU-d7a40002-0000-4000-8000-000000000002");
        }

        @Test
        void isLeftOutWhereItIsNotKnown() {
            String out = probe("odd", "--dynamic-mig").printed();

            assertThat(rows(out))
                    .contains("gpu-0-mig-2g0gb-14-0 mig 2g.0gb 0 12 -")
                    .noneMatch(row -> row.contains("-77-"));
            assertThat(out).contains("Left out:\n- MIG profile 77 of GPU-");
        }

        @Test
        void needsNoRootAndChangesNothing() throws IOException {
            StandInNode node = StandInNode.install(folder, "h100-80");
            node.state().privileged(false);
            byte[] before = node.state().withoutCalls();

            String out = probe(node, "--dynamic-mig").printed();

            assertThat(rows(out)).hasSize(8);
            assertThat(out).contains("NVML reports this only to root: nvmlDeviceGetGpuInstancePoss");
            assertThat(node.state().withoutCalls()).isEqualTo(before);
        }

        @Test
        void listsMigDevicesWithoutRoot() {
            StandInNode node = StandInNode.install(folder, "a100-40-divided");
            node.state().privileged(false);
            node.state().fails("nvmlDeviceGetMemoryInfo", 4); // for root alone in MIG mode

            Ended table = probe(node);
            Ended yaml = probe(node, "--output=yaml");

            assertThat(table.status()).isEqualTo(1);
            assertThat(table.out())
                    .containsPattern("- MIG-[0-9a-f-]{36} \\(2g\\.10gb, 28 SMs, GPU instance [0-9]+ of GPU-d7a40001-")
                    .contains("NVML reports its placement, which is part of its name, only to root");
            assertThat(table.out().lines().filter(line -> line.startsWith("- MIG-")))
                    .hasSize(11);
            assertThat(yaml.status()).isEqualTo(1);
            assertThat(yaml.err().lines().filter(line -> line.startsWith("- MIG-")))
                    .hasSize(11);
        }

        private List<String> rows(String out) {
            return out.lines()
                    .filter(line -> line.startsWith("gpu-"))
                    .map(line -> line.replaceAll(" +", " "))
                    .toList();
        }
    }

    @Nested
    class WithoutNvml {

        @Test
        void listsTheSearchedPaths() {
            assertThat(Ended.of(new ProbeMain(), "--nvidia-driver-root=" + folder)
                            .failed(1))
                    .startsWith("No NVIDIA driver below " + folder)
                    .contains(folder + "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "install")
                    .hasLineCount(1);
        }

        @Test
        void failsWithTheReasonOfTheDriver() {
            StandInNode node = StandInNode.install(folder, "t4");
            node.state().loaded(false);
            assertThat(probe(node).failed(1)).contains("Driver Not Loaded (9)", "load the driver's kernel module");

            node.state().loaded(true);
            node.state().initFails(999);
            assertThat(probe(node).failed(1)).contains("Unknown Error (999)").doesNotContain("kernel module");
        }

        @Test
        void printsThatThereAreNoGpus() {
            assertThat(probe("none").printed()).contains("The driver works, and has no GPUs.");
        }
    }

    /** The output of {@code template}, against what is published on boards that are there. */
    @Nested
    class Template {
        private static final String PCI = "resource.kubernetes.io/pciBusID";
        private static final List<String> OF_A_MACHINE =
                List.of("resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode", "addressingMode");

        private static List<JsonNode> specs(Ended ended) throws IOException {
            List<JsonNode> specs = new ArrayList<>();
            try (MappingIterator<JsonNode> slices =
                    new YAMLMapper().readerFor(JsonNode.class).readValues(ended.printed())) {
                slices.forEachRemaining(slice -> specs.add(slice.path("spec")));
            }
            return specs;
        }

        /** Replaces what differs between machines, and returns the values that were there. */
        private static Set<String> withoutMachine(List<JsonNode> specs) {
            Set<String> machine = new TreeSet<>();
            for (JsonNode spec : specs) {
                for (JsonNode device : spec.path("devices")) {
                    ObjectNode attributes = (ObjectNode) device.path("attributes");
                    attributes.remove(OF_A_MACHINE);
                    for (String name : List.of("uuid", "parentUUID", PCI)) {
                        if (attributes.path(name) instanceof ObjectNode value) {
                            machine.add(value.path("string").asText());
                            value.put("string", "of a machine");
                        }
                    }
                }
            }
            return machine;
        }

        static Stream<String> boards() {
            return Board.NAMES.stream();
        }

        private void assertIsWhatIsPublished(String board, String... options) throws IOException {
            StandInNode node = StandInNode.install(folder.resolve(board), board);
            int count = node.state().gpus();
            List<String> args = new ArrayList<>(List.of("-o", "yaml", "--node-name=template-node"));
            args.add("--nvidia-driver-root=" + node.root());
            args.add("--sysfs-root=" + node.sysfs());
            args.addAll(List.of(options));
            List<JsonNode> published = specs(Ended.of(new ProbeMain(), args.toArray(String[]::new)));
            List<String> own = new ArrayList<>(List.of("--board=" + board, "--count=" + count));
            own.addAll(List.of(options));

            List<JsonNode> template = specs(Ended.of(new TemplateMain(), own.toArray(String[]::new)));

            assertThat(withoutMachine(published)).hasSize(2 * count);
            assertThat(withoutMachine(template))
                    .hasSize(2 * count)
                    .allMatch(text -> text.matches("GPU-00000000-0000-0000-0000-[0-9a-f]{12}|0000:[0-9a-f]{2}:00\\.0"));
            assertThat(template).isNotEmpty().isEqualTo(published);
        }

        @ParameterizedTest
        @MethodSource("boards")
        void isWhatIsPublished(String board) throws IOException {
            assertIsWhatIsPublished(board);
        }

        @ParameterizedTest
        @ValueSource(strings = {"a30", "a100-40", "a100-80", "l40s", "h100-80", "h200-141", "b200"})
        void isWhatIsPublishedWithMigDevices(String board) throws IOException {
            assertIsWhatIsPublished(board, "--dynamic-mig");
        }

        @Test
        void isWhatIsPublishedWithShares() throws IOException {
            assertIsWhatIsPublished("h100-80", "--consumable-shares=memory");
        }

        @Test
        void hasTheNodeAndTheDriverThatAreAskedFor() throws IOException {
            Ended ended = Ended.of(
                    new TemplateMain(),
                    "--board=h100-80",
                    "--count=2",
                    "--node-name=pool-a",
                    "--installed-driver=580.95.05",
                    "--cuda=13.0");

            JsonNode spec = specs(ended).get(0);
            assertThat(spec.path("nodeName").asText()).isEqualTo("pool-a");
            assertThat(spec.at("/pool/name").asText()).isEqualTo("pool-a");
            assertThat(spec.path("devices")).hasSize(2);
            JsonNode attributes = spec.at("/devices/0/attributes");
            assertThat(attributes.at("/driverVersion/version").asText()).isEqualTo("580.95.5");
            assertThat(attributes.at("/cudaDriverVersion/version").asText()).isEqualTo("13.0.0");
            assertThat(ended.out())
                    .startsWith("# A node with 2 x NVIDIA H100 80GB HBM3 and NVIDIA's driver 580.95.05")
                    .contains("name: \"pool-a-gpu.nvidia.com-0\"");
        }

        @Test
        void hasWhatABoardDecidesAndADriverThatKnowsIt() throws IOException {
            Ended ended = Ended.of(new TemplateMain(), "--board=b200");

            JsonNode attributes = specs(ended).get(0).at("/devices/0/attributes");
            assertThat(attributes.at("/driverVersion/version").asText()).isEqualTo("570.133.20");
            assertThat(attributes.at("/cudaDriverVersion/version").asText()).isEqualTo("12.8.0");
            assertThat(attributes.has("addressingMode")).isFalse();
            assertThat(ended.out()).contains("# addressingMode.");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        --board=h100 | 1 | Unknown board "h100"; the known ones are t4, a30,
                        --count=8 | 2 | Missing required option: '--board
                        --board=t4 --count=0 | 2 | '--count': 0 is not between 1 and 64
                        --board=t4 --count=65 | 2 | '--count': 65 is not between 1 and 64
                        --board=t4 --feature-gates=PassthroughSupport=true | 1 | no GPUs for virtual machines
                        --board=t4 --installed-driver=new | 1 | "new"
                        --board=t4 --node-name=Node_1 | 1 | Node_1
                        """)
        void whatCantBeIsNamed(String args, int status, String message) {
            Ended ended = Ended.of(new TemplateMain(), args.split(" "));

            assertThat(ended.failed(status)).contains(message);
        }

        @Test
        void allFilesOfBoardsAreKnown() throws IOException {
            try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/dra4j/nvidia/boards"))) {
                assertThat(files.map(file -> file.getFileName().toString().replace(".txt", "")))
                        .containsExactlyInAnyOrderElementsOf(Board.NAMES);
            }
            assertThat(Ended.of(new TemplateMain(), "--help").out()).contains("t4, a30, a100-40");
        }
    }
}
