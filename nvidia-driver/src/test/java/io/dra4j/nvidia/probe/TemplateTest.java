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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The output of {@code template}, against what is published on boards that are there. */
class TemplateTest {

    private static final String PCI = "resource.kubernetes.io/pciBusID";
    private static final List<String> OF_A_MACHINE =
            List.of("resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode", "addressingMode");

    @TempDir
    private Path folder;

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
