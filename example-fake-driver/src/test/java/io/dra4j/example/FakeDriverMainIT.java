// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The runnable jar, as a process. */
@Tag("gate")
class FakeDriverMainIT {

    @TempDir
    private Path folder;

    private record Ended(int status, List<String> output) {}

    private static Process start(String... args) throws IOException {
        List<String> command = new ArrayList<>(DriverJar.command());
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        Stream.of("NODE_NAME", "KUBECONFIG", "DRIVER_NAME").forEach(environment::remove);
        return builder.start();
    }

    private static Ended run(String... args) throws IOException, InterruptedException {
        Process process = start(args);
        List<String> output;
        try (BufferedReader reader = process.inputReader()) {
            output = reader.lines().toList();
        }
        return new Ended(process.waitFor(), output);
    }

    @Test
    void isOneJarWithEverythingInIt() throws IOException {
        try (JarFile jar = new JarFile(DriverJar.PATH.toFile())) {
            Manifest manifest = jar.getManifest();

            assertThat(manifest.getMainAttributes().getValue("Enable-Native-Access"))
                    .isEqualTo("ALL-UNNAMED");
            assertThat(new String(jar.getInputStream(jar.getEntry("META-INF/services/io.grpc.LoadBalancerProvider"))
                            .readAllBytes()))
                    .as("merged from the jars of grpc")
                    .contains("PickFirst", "OutlierDetection");
        }
    }

    @Nested
    class TheCommandLine {

        @Test
        void explainsItself() throws Exception {
            Ended help = run("--help");

            assertThat(help.status()).isZero();
            assertThat(help.output().get(0)).isEqualTo("Usage: dra4j-example-fake-driver [OPTIONS]");
            assertThat(String.join("\n", help.output()))
                    .contains("--num-devices=N", "[NUM_DEVICES]", "Default: 8", "gpu.example.com")
                    .contains("[GPU_PARTITIONS]", "[GPU_ALLOW_MULTIPLE_ALLOCATIONS]")
                    .contains("--fault-file=FILE", "[FAULT_FILE]", "<device> absent");
            assertThat(run("--help=true")).isEqualTo(help);
        }

        @Test
        void printsTheDriverNameOfAProfile() throws Exception {
            Ended help = run("--help", "--device-profile=net");

            assertThat(String.join("\n", help.output()))
                    .contains("--device-profile=gpu|cpu|net", "[DEVICE_PROFILE]")
                    .contains("Default: net.example.com")
                    .contains("[NET_DEVICE_STATUS]", "[CPU_NUMA_NODES]", "[CPUS_PER_NUMA_NODE]");
        }

        @Test
        void hasTheCommandsOfTheNodeTools() throws Exception {
            Ended inspection = run("journal", "inspect", "/no/such");

            assertThat(inspection.status()).isEqualTo(1);
            assertThat(String.join("\n", inspection.output()))
                    .contains("dra4j-example-fake-driver: Can't read the journal /no/such");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                        --num-gpus=4           | : Unknown option: '--num-gpus=4'
                        --num-devices=-1       | '--num-devices': -1 is less than 0
                        --gpu-partitions=81    | '--gpu-partitions': 81 is more than 80
                        --cpus-per-numa-node=0 | '--cpus-per-numa-node': 0 is less than 1
                        --device-profile=fpga  | '--device-profile': expected one of [gpu, cpu, net] (case-sensitive) but was 'fpga'
                        """)
        void refusesWhatItDoesNotKnow(String option, String problem) throws Exception {
            Ended ended = run("--node-name=a", option);

            assertThat(ended.status()).isEqualTo(2);
            assertThat(ended.output()).hasSize(2);
            assertThat(String.join("\n", ended.output()))
                    .startsWith("dra4j-example-fake-driver: ")
                    .endsWith(problem + "\nRun it with --help to see its options.");
        }
    }

    @Nested
    class ADriverThatCannotStart {

        @Test
        void logsTheReasonAsJson() throws Exception {
            Ended ended = run("--node-name=a", "--logging-format=json", "--kubelet-plugins-directory-path", missing());

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.output()).hasSize(1);
            JsonNode line = new ObjectMapper().readTree(ended.output().get(0));
            assertThat(line.path("level").asText()).isEqualTo("ERROR");
            assertThat(line.at("/throwable/message").asText()).contains(missing());
        }

        private String missing() {
            return folder.resolve("missing").toString();
        }
    }
}
