// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code bench} over the fake driver. */
class BenchMainIT {

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... command) {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "bench",
                                "--driver-name=gpu.example.com",
                                "--start-timeout=60",
                                "--rounds=2",
                                "--json=" + folder.resolve("numbers.json"),
                                "--"));
        line.addAll(List.of(command));
        CommandLine commands = ConformanceMain.commandLine();
        commands.setOut(new PrintWriter(out));
        commands.setErr(new PrintWriter(err, true));
        return commands.execute(line.toArray(String[]::new));
    }

    private static String[] fakeDriver(int devices) {
        return new String[] {
            System.getProperty("java.home") + "/bin/java",
            "-cp",
            System.getProperty("java.class.path"),
            "io.dra4j.example.FakeDriverMain",
            "--num-devices=" + devices
        };
    }

    @Test
    void callsAndPublishingAreMeasured() throws Exception {
        assertThat(bench(fakeDriver(40))).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("p50", "p99")
                .contains("Left out: 200 claims held, for which 40 devices are too few")
                .containsPattern("prepare +32 +0 +2 +[0-9.]+ ms")
                .containsPattern("wipe to publish +0 +3 +[0-9.]+ ms");
        JsonNode numbers = new ObjectMapper().readTree(folder.resolve("numbers.json").toFile());
        assertThat(numbers.at("/measures")).hasSize(8);
        assertThat(numbers.at("/measures/2/what").asText()).isEqualTo("prepare");
        assertThat(numbers.at("/measures/2/p50Ms").asDouble()).isPositive();
    }

    @Test
    void aDriverThatEndsAtOnceIsToldInALine() {
        assertThat(bench("sh", "-c", "echo no hardware; exit 4")).isEqualTo(3);

        assertThat(err.toString().lines())
                .containsExactly(
                        "dra-conformance: The driver ended with exit status 4; its last line: no"
                                + " hardware");
    }
}
