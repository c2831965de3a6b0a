// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.driver.MountNamespace;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code bench} over the fake driver. */
class BenchMainIT {

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... command) {
        return bench(List.of(), command);
    }

    private int bench(List<String> options, String... command) {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "bench",
                                "--driver-name=gpu.example.com",
                                "--start-timeout=60",
                                "--rounds=2",
                                "--json=" + folder.resolve("numbers.json")));
        line.addAll(options);
        line.add("--");
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
    @Tag("slow")
    void withFewDevicesCallsHaveFewerClaims() throws Exception {
        assertThat(bench(fakeDriver(5))).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("there are 5 that claims can have at the same time: no call has more")
                .containsPattern("prepare +1 +0 +2 +[0-9.]+ ms")
                .containsPattern("unprepare +5 +0 +2 +[0-9.]+ ms")
                .doesNotContainPattern("prepare +8 ")
                .contains("Left out: 200 claims held, for which 5 devices are too few");
    }

    @Test
    @Tag("slow")
    void aDriverOfStandardPathsAlone() throws Exception {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);
        List<String> command = new ArrayList<>(List.of(fakeDriver(1)));
        command.add("--cdi-root=/var/run/cdi");
        command.add("--kubelet-plugins-directory-path=/var/lib/kubelet/plugins");
        command.add("--kubelet-registrar-directory-path=/var/lib/kubelet/plugins_registry");

        assertThat(
                        bench(
                                List.of("--standard-paths", "--in-cluster"),
                                command.toArray(String[]::new)))
                .as(err.toString())
                .isZero();

        assertThat(out.toString()).containsPattern("unprepare +1 +0 +2 +[0-9.]+ ms");
    }

    @Test
    void withoutADeviceThereAreNoCallsToMeasure() {
        assertThat(bench(fakeDriver(0))).isEqualTo(1);

        assertThat(err.toString()).contains("publishes 0 devices, and none that a claim can have");
    }

    @Test
    void aDriverThatEndsAtOnceIsReportedInALine() {
        assertThat(bench("sh", "-c", "echo no hardware; exit 4")).isEqualTo(3);

        assertThat(err.toString().lines())
                .containsExactly(
                        "dra-conformance: The driver ended with exit status 4; its last line: no hardware");
    }
}
