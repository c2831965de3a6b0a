// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The output of {@code probe} on boards, against values of public tables. */
class ProbeTest {

    /** Placements of all boards of seven slices. */
    private static final List<String> SEVEN_SLICES =
            List.of(
                    "1g 19 at 0,1,2,3,4,5,6",
                    "1g+me 20 at 0,1,2,3,4,5,6",
                    "1g2 15 at 0,2,4,6",
                    "2g 14 at 0,2,4",
                    "3g 9 at 0,4",
                    "4g 5 at 0",
                    "7g 0 at 0");

    private static final List<String> FOUR_SLICES =
            List.of(
                    "1g 14 at 0,1,2,3",
                    "1g+me 21 at 0,1,2,3",
                    "2g 5 at 0,2",
                    "2g+me 6 at 0,2",
                    "4g 0 at 0");

    @TempDir private Path folder;

    private record Ended(int status, String out, String err) {}

    private static Ended probe(StandInNode node, String... more) {
        List<String> args = new ArrayList<>();
        args.add("probe");
        args.add("--nvidia-driver-root=" + node.root());
        args.add("--sysfs-root=" + node.sysfs());
        args.addAll(Arrays.asList(more));
        return run(args.toArray(new String[0]));
    }

    private static Ended run(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status =
                ProbeMain.execute(args, new PrintStream(out, true), new PrintStream(err, true));
        return new Ended(
                status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static Stream<Arguments> boardRows() {
        return Stream.of(
                Arguments.of(
                        "a100-40",
                        SEVEN_SLICES,
                        List.of(
                                "1g 1g.5gb 4.75 14/1/0/0/0",
                                "1g+me 1g.5gb+me 4.75 14/1/1/1/1",
                                "1g2 1g.10gb 9.63 14/1/1/0/0",
                                "2g 2g.10gb 9.75 28/2/1/0/0",
                                "3g 3g.20gb 19.63 42/3/2/0/0",
                                "4g 4g.20gb 19.63 56/4/2/0/0",
                                "7g 7g.40gb 39.50 98/7/5/1/1")),
                Arguments.of(
                        "a100-80",
                        SEVEN_SLICES,
                        List.of(
                                "1g 1g.10gb 9.63 14/1/0/0/0",
                                "1g+me 1g.10gb+me 9.63 14/1/1/1/1",
                                "1g2 1g.20gb 19.50 14/1/1/0/0",
                                "2g 2g.20gb 19.50 28/2/1/0/0",
                                "3g 3g.40gb 39.25 42/3/2/0/0",
                                "4g 4g.40gb 39.25 56/4/2/0/0",
                                "7g 7g.80gb 79.00 98/7/5/1/1")),
                Arguments.of(
                        "a30",
                        FOUR_SLICES,
                        List.of(
                                "1g 1g.6gb 5.81 14/1/1/0/0",
                                "1g+me 1g.6gb+me 5.81 14/1/1/1/1",
                                "2g 2g.12gb 11.69 28/2/2/0/0",
                                "2g+me 2g.12gb+me 11.69 28/2/2/1/1",
                                "4g 4g.24gb 23.50 56/4/4/1/1")),
                Arguments.of(
                        "h100-80",
                        SEVEN_SLICES,
                        List.of(
                                "1g 1g.10gb 9.75 16/1/1/1/0",
                                "1g+me 1g.10gb+me 9.75 16/1/1/1/1",
                                "1g2 1g.20gb 19.63 26/1/1/1/0",
                                "2g 2g.20gb 19.63 32/2/2/2/0",
                                "3g 3g.40gb 39.38 60/3/3/3/0",
                                "4g 4g.40gb 39.38 64/4/4/4/0",
                                "7g 7g.80gb 79.13 132/8/7/7/1")),
                Arguments.of(
                        "h200-141",
                        SEVEN_SLICES,
                        List.of(
                                "1g 1g.18gb 16.00 16/1/1/1/0",
                                "1g+me 1g.18gb+me 16.00 16/1/1/1/1",
                                "1g2 1g.35gb 32.25 26/1/1/1/0",
                                "2g 2g.35gb 32.25 32/2/2/2/0",
                                "3g 3g.71gb 69.50 60/3/3/3/0",
                                "4g 4g.71gb 69.50 64/4/4/4/0",
                                "7g 7g.141gb 140.00 132/8/7/7/1")),
                Arguments.of(
                        "b200",
                        SEVEN_SLICES,
                        List.of(
                                "1g 1g.23gb 22.00 18/2/1/1/0",
                                "1g+me 1g.23gb+me 22.00 18/2/1/1/1",
                                "1g2 1g.45gb 44.25 30/2/1/1/0",
                                "2g 2g.45gb 44.25 36/4/2/2/0",
                                "3g 3g.90gb 89.00 70/8/4/4/0",
                                "4g 4g.90gb 89.00 72/8/4/4/0",
                                "7g 7g.180gb 178.00 148/16/7/7/1")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("boardRows")
    void printsAllPossibleMigDevices(String board, List<String> places, List<String> amounts)
            throws IOException {
        StandInNode node = StandInNode.install(folder, board);
        for (int gpu = 0; gpu < node.state().gpus(); gpu++) {
            node.state().setMig(gpu, true);
        }

        Ended ended = probe(node, "--dynamic-mig", "--output=yaml");

        assertThat(ended.status()).as(ended.err()).isZero();
        List<String> found = devices(ended.out());
        assertThat(found)
                .filteredOn(device -> device.contains(" mig "))
                .containsExactlyInAnyOrderElementsOf(
                        expected(node.state().gpus(), places, amounts));
    }

    private static List<String> expected(int gpus, List<String> places, List<String> amounts) {
        List<String> devices = new ArrayList<>();
        for (int gpu = 0; gpu < gpus; gpu++) {
            for (int row = 0; row < places.size(); row++) {
                String[] place = places.get(row).split(" ");
                String[] amount = amounts.get(row).split(" ", 3);
                assertThat(place[0]).isEqualTo(amount[0]);
                String name = amount[1].replace(".", "").replace('+', '-');
                for (String start : place[3].split(",")) {
                    devices.add(
                            "gpu-%d-mig-%s-%s-%s mig %s %s"
                                    .formatted(gpu, name, place[1], start, amount[1], amount[2]));
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
        double gib =
                memory.endsWith("Mi")
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
                        Stream.of(
                                        "multiprocessors",
                                        "copyEngines",
                                        "decoders",
                                        "jpegEngines",
                                        "ofaEngines")
                                .map(key -> device.at("/capacity/" + key + "/value").asText())
                                .toList()));
    }

    @Nested
    class WhatANodeHas {

        @Test
        void isWholeGpusWithoutMigMode() {
            Ended ended = probe(StandInNode.install(folder, "l40s"));

            assertThat(ended.status()).isZero();
            assertThat(ended.out())
                    .startsWith("NVIDIA driver 550.163.01, CUDA 12.4\n")
                    .contains("NVIDIA L40S", "46068 MiB", "not capable");
            assertThat(rows(ended.out()))
                    .containsExactly(
                            "gpu-0 gpu - 46068Mi - GPU-d7a40000-0000-4000-8000-000000000000",
                            "gpu-1 gpu - 46068Mi - GPU-d7a40001-0000-4000-8000-000000000001",
                            "gpu-2 gpu - 46068Mi - GPU-d7a40002-0000-4000-8000-000000000002",
                            "gpu-3 gpu - 46068Mi - GPU-d7a40003-0000-4000-8000-000000000003");
        }

        @Test
        void isTheAdministratorsMigDevices() {
            Ended ended = probe(StandInNode.install(folder, "a100-40-divided"));

            assertThat(rows(ended.out()))
                    .hasSize(11)
                    .filteredOn(row -> row.startsWith("gpu-1-"))
                    .extracting(row -> row.replaceFirst(" MIG-[0-9a-f-]{36}$", ""))
                    .containsExactlyInAnyOrder(
                            "gpu-1-mig-2g10gb-14-0 mig 2g.10gb 9984Mi 28",
                            "gpu-1-mig-1g5gb-19-2 mig 1g.5gb 4864Mi 14",
                            "gpu-1-mig-1g5gb-me-20-3 mig 1g.5gb+me 4864Mi 14",
                            "gpu-1-mig-3g20gb-9-4 mig 3g.20gb 20096Mi 42");
        }

        @Test
        void isEachBoardByItsOwnKindOnAMixedNode() {
            Ended ended = probe(StandInNode.install(folder, "mixed"), "--dynamic-mig");

            assertThat(rows(ended.out()))
                    .hasSize(1 + 25 + 1 + 1)
                    .contains(
                            "gpu-0 gpu - 81024Mi 132 GPU-d7a40000-0000-4000-8000-000000000000",
                            "gpu-0-mig-7g80gb-0-0 mig 7g.80gb 81024Mi 132 -",
                            "gpu-1 gpu - 40Gi - GPU-d7a40001-0000-4000-8000-000000000001",
                            "gpu-2 gpu - 15Gi - GPU-d7a40002-0000-4000-8000-000000000002");
        }

        @Test
        void isLeftOutWhereItIsNotKnown() {
            Ended ended = probe(StandInNode.install(folder, "odd"), "--dynamic-mig");

            assertThat(rows(ended.out()))
                    .contains("gpu-0-mig-2g0gb-14-0 mig 2g.0gb 0 12 -")
                    .noneMatch(row -> row.contains("-77-"));
            assertThat(ended.out()).contains("Left out:\n- Profile 77 of gpu-0 is left out");
        }

        @Test
        void needsNoRootAndChangesNothing() throws IOException {
            StandInNode node = StandInNode.install(folder, "h100-80");
            node.state().privileged(false);
            byte[] before = Files.readAllBytes(Path.of(node.library() + ".state"));

            Ended ended = probe(node, "--dynamic-mig");

            assertThat(ended.status()).isZero();
            assertThat(rows(ended.out())).hasSize(8);
            assertThat(ended.out()).contains("NVML reports its placements only to root");
            assertThat(Files.readAllBytes(Path.of(node.library() + ".state"))).isEqualTo(before);
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
            Ended ended = run("probe", "--nvidia-driver-root=" + folder);

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.out()).isEmpty();
            assertThat(ended.err())
                    .startsWith("dra4j-nvidia-driver: No NVIDIA driver below " + folder)
                    .contains(folder + "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "install")
                    .hasLineCount(1);
        }

        @Test
        void failsIfTheKernelHasNoDriver() {
            StandInNode node = StandInNode.install(folder, "t4");
            node.state().loaded(false);

            Ended ended = probe(node);

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.err())
                    .contains("Driver Not Loaded (9)", "load the driver's kernel module");
        }

        @Test
        void failsIfTheDriverFails() {
            StandInNode node = StandInNode.install(folder, "t4");
            node.state().initFails(999);

            Ended ended = probe(node);

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.err()).contains("Unknown Error (999)").doesNotContain("kernel module");
        }

        @Test
        void printsThatThereAreNoGpus() throws IOException {
            StandInNode node = StandInNode.install(folder, "none");

            Ended ended = probe(node);

            assertThat(ended.status()).isZero();
            assertThat(ended.out()).contains("The driver works, and has no GPUs.");
        }
    }

    @Nested
    class TheCommandLine {

        @Test
        void explainsItself() {
            Ended ended = run("probe", "--help");

            assertThat(ended.status()).isZero();
            assertThat(ended.out())
                    .startsWith("Usage: dra4j-nvidia-driver probe")
                    .contains("--nvidia-driver-root=DIR", "[NVIDIA_DRIVER_ROOT", "--dynamic-mig");
        }

        @Test
        void refusesWhatItDoesNotKnow() {
            Ended ended = run("probe", "--gpu=4");

            assertThat(ended.status()).isEqualTo(2);
            assertThat(ended.err()).contains("Unknown option: '--gpu=4'");
        }

        @Test
        void refusesARelativeRoot() {
            Ended ended = run("probe", "--container-driver-root=here");

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.err()).contains("must be an absolute path, not here").hasLineCount(1);
        }
    }
}
