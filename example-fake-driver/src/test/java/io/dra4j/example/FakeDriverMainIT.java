// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.driver.Ended;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
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

    private static Ended run(String... args) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("env", "-u", "NODE_NAME", "-u", "KUBECONFIG", "-u", "DRIVER_NAME"));
        command.addAll(DriverJar.command());
        return Ended.of(Map.of(), command, args);
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
            assertThat(help.output())
                    .startsWith("Usage: dra4j-example-fake-driver [OPTIONS]\n")
                    .contains("--num-devices=N", "[NUM_DEVICES]", "Default: 8", "gpu.example.com")
                    .contains("[GPU_PARTITIONS]", "[GPU_ALLOW_MULTIPLE_ALLOCATIONS]")
                    .contains("--fault-file=FILE", "[FAULT_FILE]", "<device> absent");
            assertThat(run("--help=true")).isEqualTo(help);
        }

        @Test
        void printsTheDriverNameOfAProfile() throws Exception {
            Ended help = run("--help", "--device-profile=net");

            assertThat(help.output())
                    .contains("--device-profile=gpu|cpu|net", "[DEVICE_PROFILE]")
                    .contains("Default: net.example.com")
                    .contains("[NET_DEVICE_STATUS]", "[CPU_NUMA_NODES]", "[CPUS_PER_NUMA_NODE]");
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
            assertThat(ended.output())
                    .startsWith("dra4j-example-fake-driver: ")
                    .endsWith(problem + "\nRun it with --help to see its options.\n")
                    .hasLineCount(2);
        }
    }

    @Nested
    class ADriverThatCannotStart {

        @Test
        void logsTheReasonAsJson() throws Exception {
            Ended ended = run("--node-name=a", "--logging-format=json", "--kubelet-plugins-directory-path", missing());

            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.output()).hasLineCount(1);
            JsonNode line = new ObjectMapper().readTree(ended.output());
            assertThat(line.path("level").asText()).isEqualTo("ERROR");
            assertThat(line.at("/throwable/message").asText()).contains(missing());
        }

        private String missing() {
            return folder.resolve("missing").toString();
        }
    }
}
