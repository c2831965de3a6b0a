// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.Scenarios;
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

    private StandInNode node;
    private byte[] before;
    private Ended ended;

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

    @Scenarios("probe-scenarios.txt")
    void aNodeAndABoardAreShown(String scenario) throws IOException {
        for (String line : scenario.replace("{folder}", folder.toString()).split("\n")) {
            String[] words = line.split(" ");
            String[] options = Arrays.copyOfRange(words, 1, words.length);
            String text = String.join(" ", options).replace("\\n", "\n");
            switch (words[0]) {
                case "#" -> {} // its title
                case "boards" -> node = StandInNode.install(folder, words[1]);
                case "machines" -> {
                    try (PciStandIn kernel = PciStandIn.install(node)) {
                        for (String gpu : kernel.gpus()) {
                            kernel.bindByHand(gpu, PciStandIn.VFIO);
                        }
                    }
                }
                case "unprivileged" -> node.state().privileged(false);
                case "fails" -> node.state().fails(words[1], Integer.parseInt(words[2]));
                case "loaded" -> node.state().loaded(Boolean.parseBoolean(words[1]));
                case "init-fails" -> node.state().initFails(Integer.parseInt(words[1]));
                case "note" -> before = node.state().withoutCalls();
                case "unchanged" -> assertThat(node.state().withoutCalls()).isEqualTo(before);
                case "probe" -> ended = node == null ? Ended.of(new ProbeMain(), options) : probe(node, options);
                case "template" -> ended = Ended.of(new TemplateMain(), options);
                default -> assertPrinted(words, text);
            }
        }
    }

    private void assertPrinted(String[] words, String text) throws IOException {
        List<String> rows = rows(ended.out());
        switch (words[0]) {
            case "status" -> assertThat(ended.status()).as(ended.err()).isEqualTo(Integer.parseInt(words[1]));
            case "failed" -> ended.failed(Integer.parseInt(words[1]));
            case "first" -> assertThat(ended.out()).startsWith(text);
            case "has" -> assertThat(ended.out()).contains(text);
            case "matches" -> assertThat(ended.out()).containsPattern(text);
            case "lines" -> assertLines(ended.out(), words);
            case "err" -> assertThat(ended.err()).contains(text);
            case "err-first" -> assertThat(ended.err()).startsWith(text);
            case "err-lines" -> assertLines(ended.err(), words);
            case "no-err" -> assertThat(ended.err()).doesNotContain(text);
            case "row" -> assertThat(rows).contains(text);
            case "all-rows" -> assertThat(String.join(" | ", rows)).isEqualTo(text);
            case "rows" -> assertThat(rows).hasSize(Integer.parseInt(words[1]));
            case "no-row" -> assertThat(rows).isNotEmpty().noneMatch(row -> row.contains(text));
            case "at" -> assertThat(specs(ended).get(0).at(words[1]).asText()).isEqualTo(words[2]);
            case "size" -> assertThat(specs(ended).get(0).at(words[1])).hasSize(Integer.parseInt(words[2]));
            case "missing" ->
                assertThat(specs(ended).get(0).at(words[1]).isMissingNode()).isTrue();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static List<JsonNode> specs(Ended ended) throws IOException {
        List<JsonNode> specs = new ArrayList<>();
        try (MappingIterator<JsonNode> slices =
                new YAMLMapper().readerFor(JsonNode.class).readValues(ended.printed())) {
            slices.forEachRemaining(slice -> specs.add(slice.path("spec")));
        }
        return specs;
    }

    private static List<String> rows(String out) {
        return out.lines()
                .filter(line -> line.startsWith("gpu-"))
                .map(line -> line.replaceAll(" +", " "))
                .toList();
    }

    private static void assertLines(String text, String[] words) {
        String beginning = String.join(" ", Arrays.copyOfRange(words, 2, words.length));
        assertThat(text.lines().filter(line -> line.startsWith(beginning))).hasSize(Integer.parseInt(words[1]));
    }

    /** The output of {@code template}, against what is published on boards that are there. */
    @Nested
    class Template {
        private static final String PCI = "resource.kubernetes.io/pciBusID";
        private static final List<String> OF_A_MACHINE =
                List.of("resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode", "addressingMode");

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
            args.addAll(List.of(options));
            List<JsonNode> published = specs(probe(node, args.toArray(String[]::new)));
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
