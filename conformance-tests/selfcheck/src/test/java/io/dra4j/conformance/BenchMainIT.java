// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.selfcheck.Programs;
import io.dra4j.testkit.driver.MountNamespace;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command {@code bench} over the fake driver, and over many drivers: what must not grow with their number. */
@Tag("gate")
class BenchMainIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NODES = 20;
    private static final int DEVICES = 100; // two slices of 64 at most

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... command) {
        return bench(List.of(), command);
    }

    private int bench(List<String> options, String... command) {
        List<String> line = new ArrayList<>(List.of(
                "--driver-name=gpu.example.com",
                "--start-timeout=60",
                "--rounds=2",
                "--first-calls=13",
                "--idle-seconds=0",
                "--json=" + folder.resolve("numbers.json")));
        line.addAll(options);
        if (options.stream().noneMatch(option -> option.startsWith("--starts="))) {
            line.add("--starts=1");
        }
        line.add("--");
        line.addAll(List.of(command));
        return execute(line.toArray(String[]::new));
    }

    private int execute(String... options) {
        CommandLine commands = ConformanceMain.commandLine();
        commands.setOut(new PrintWriter(out));
        commands.setErr(new PrintWriter(err, true));
        return commands.execute(
                Stream.concat(Stream.of("bench"), Stream.of(options)).toArray(String[]::new));
    }

    private static String[] fakeDriver(int devices) {
        return Programs.fake("--num-devices=" + devices).toArray(String[]::new);
    }

    /** The fake driver, started by a shell script that has {@code "$@"}. */
    private static List<String> scripted(String script, int devices) {
        return Stream.concat(Stream.of("sh", "-c", script, "sh"), Stream.of(fakeDriver(devices)))
                .toList();
    }

    @Test
    void callsAndPublishingAreMeasured() throws Exception {
        assertThat(bench(fakeDriver(40))).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("p50", "p99")
                .contains("Left out: 200 claims held, for which 40 devices are too few")
                .containsPattern("start to both sockets +1 +[0-9.]+ m?s")
                .containsPattern("wipe to publish +1 +[0-9.]+ m?s")
                .containsPattern("fsync of a directory +2 +[0-9.]+ ms")
                .containsPattern("idle, 0 s after the start +[0-9.]+ MiB +[0-9.]+ MiB +[0-9]+ +1\n")
                .containsPattern("\nprepare, 1 to 10 +1 +0 +10 +[0-9.]+ ms.* x [0-9.]+ +x [0-9.]+\n")
                .containsPattern("\nunprepare, 11 to 13 +1 +0 +3 +[0-9.]+ ms")
                .containsPattern("prepare +32 +0 +2 +[0-9.]+ ms.* x [0-9.]+ +x [0-9.]+\n");
        assertTheTableFits();
        JsonNode numbers = numbers();
        assertThat(numbers.at("/measures")).hasSize(14);
        assertThat(numbers.at("/measures/8/what").asText()).isEqualTo("prepare");
        assertThat(numbers.at("/measures/8/p50Ms").asDouble()).isPositive();
        assertThat(numbers.at("/measures/4/p95Ms").asDouble()).isPositive();
        assertThat(numbers.at("/measures/4/p50ToOneClaim").asDouble()).isPositive();
        assertThat(numbers.at("/measures/12/p50ToOneClaim").asDouble()).isPositive();
        assertThat(numbers.at("/floors")).hasSize(4);
        assertThat(numbers.at("/idle/residentBytes").asLong())
                .isGreaterThan(numbers.at("/idle/anonymousBytes").asLong());
    }

    private void assertTheTableFits() {
        assertThat(out.toString().lines().dropWhile(line -> !line.startsWith("memory and")))
                .hasSizeGreaterThan(10)
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(101));
    }

    private JsonNode numbers() throws IOException {
        return JSON.readTree(folder.resolve("numbers.json").toFile());
    }

    @Test
    @Tag("nightly")
    void twoDriversTakeTurns() throws Exception {
        Path begun = folder.resolve("begun");
        String[] driver =
                scripted("printf A >>%s; exec \"$@\"".formatted(begun), 4).toArray(String[]::new);
        List<String> words = scripted("printf B >>%s; \"$@\"; exit".formatted(begun), 3);
        Path other = folder.resolve("other.yaml");
        JSON.writeValue(
                other.toFile(),
                Map.of("driver", Map.of("name", "gpu.example.com", "process", Map.of("command", words))));

        assertThat(bench(List.of("--against=" + other, "--starts=2"), driver))
                .as(err.toString())
                .isZero();

        assertThat(begun).as("AB does not count").hasContent("AB" + "BA" + "AB");
        assertThat(out.toString())
                .contains("A: gpu.example.com\n", "B: gpu.example.com of " + other)
                .containsPattern("resident +[0-9.]+ MiB +[0-9.]+ MiB +[0-9.]+ MiB +[0-9.]+ MiB +x [0-9.]+ +x")
                .containsPattern("prepare, 1 to 10 +1 +0 .* x [0-9.]+ +x [0-9.]+\n")
                .containsPattern("unprepare +3 +0 +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ ms");
        assertTheTableFits();
        JsonNode numbers = numbers();
        assertThat(numbers.at("/measures/0/times").asInt()).isEqualTo(2);
        assertThat(numbers.at("/idle/processes").asInt()).isEqualTo(1);
        assertThat(numbers.at("/against/idle/processes").asInt())
                .as("the shell and the driver")
                .isEqualTo(2);
        assertThat(numbers.at("/against/idle/threads").asInt()).isGreaterThan(10);
    }

    @Test
    @Tag("nightly")
    void manyCallsShowWhetherMemoryGrows() throws Exception {
        List<String> options = List.of("--calls=30", "--growth-limit=1000");
        assertThat(bench(options, fakeDriver(1))).as(err.toString()).isZero();

        assertThat(out.toString())
                .containsPattern(" 3 +[0-9.]+ MiB +[0-9.]+ MiB +[0-9]+ +[0-9.]+ ms")
                .containsPattern(" 30 +[0-9.]+ MiB")
                .contains("the limit is 1000 MiB.");
        assertThat(numbers().at("/parts")).hasSize(10);
        assertThat(numbers().at("/growthBytes").isIntegralNumber()).isTrue();
    }

    @Test
    @Tag("nightly")
    void memoryThatGrowsFails() {
        // the most of the second half can't be a gigabyte less than that of the first
        assertThat(bench(List.of("--calls=10", "--growth-limit=-1000"), fakeDriver(1)))
                .isEqualTo(1);

        assertThat(out.toString()).contains("the limit is -1000 MiB, which it exceeds.");
    }

    @Test
    @Tag("nightly")
    void aDriverThatRestartsFails() {
        String someClaims = "for i in 1 2 3 4 5; do"
                + " until ls $CDI_ROOT | grep -q claim; do :; done; while ls $CDI_ROOT | grep -q claim; do :; done; done";
        String twice = "\"$@\" & " + someClaims + "; kill -9 $!; wait; \"$@\"";

        assertThat(bench(List.of("--calls=1000000"), scripted(twice, 1).toArray(String[]::new)))
                .isEqualTo(1);

        assertThat(err.toString()).contains("a call that is measured failed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --driver-name=a --calls=10 --against=other.yaml -- true | --calls measures one driver, and cannot be combined with --against
                    --driver-name=a --calls=9 -- true                       | --calls must be at least 10
                    --driver-name=a --growth-limit=1 -- true                | --growth-limit requires --calls
                    --nodes=2 --against=other.yaml --rounds=3 -- true       | --nodes hosts its own drivers, and cannot be combined with --against, --rounds, COMMAND
                    --nodes=2 --driver-name=gpu.example.com                 | --nodes hosts its own drivers, and cannot be combined with --driver-name
                    --nodes=2 --calls=10                                    | --nodes hosts its own drivers, and cannot be combined with --calls
                    --nodes=1                                               | --nodes must be at least 2: the others are measured against the first
                    --nodes=2 --devices=0                                   | --devices must be at least 1
                    --nodes=2 --idle-seconds=0                              | --idle-seconds must be at least 1 with --nodes
                    --devices=3 --driver-name=gpu.example.com -- true       | --devices requires --nodes
                    """)
    void optionsThatDoNotFitAreRefused(String line, String message) {
        assertThat(execute(line.split(" "))).isEqualTo(3);

        assertThat(err.toString().lines()).containsExactly("dra-conformance: " + message);
    }

    @Test
    @Tag("nightly")
    void withFewDevicesCallsHaveFewerClaims() throws Exception {
        assertThat(bench(fakeDriver(5))).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("claims can have 5 devices at the same time: no call has more")
                .containsPattern("prepare +1 +0 +2 +[0-9.]+ ms")
                .containsPattern("unprepare +5 +0 +2 +[0-9.]+ ms")
                .doesNotContainPattern("prepare +8 ")
                .contains("Left out: 200 claims held, for which 5 devices are too few");
    }

    @Test
    @Tag("nightly")
    void aDriverOfStandardPathsAlone() throws Exception {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);
        List<String> command = Programs.fake(
                "--num-devices=1",
                "--cdi-root=/var/run/cdi",
                "--kubelet-plugins-directory-path=/var/lib/kubelet/plugins",
                "--kubelet-registrar-directory-path=/var/lib/kubelet/plugins_registry");

        assertThat(bench(List.of("--standard-paths", "--in-cluster"), command.toArray(String[]::new)))
                .as(err.toString())
                .isZero();

        assertThat(out.toString()).containsPattern("unprepare +1 +0 +2 +[0-9.]+ ms");
    }

    @Test
    void withoutADeviceThereAreNoCallsToMeasure() {
        assertThat(bench(fakeDriver(0))).isEqualTo(1);

        assertThat(err.toString()).contains("publishes 0 devices, but none that a claim can have");
    }

    @Test
    void aDriverThatEndsAtOnceIsReportedInALine() {
        assertThat(bench("sh", "-c", "echo no hardware; exit 4")).isEqualTo(3);

        assertThat(err.toString().lines())
                .containsExactly("dra-conformance: The driver ended with exit status 4; its last line: no hardware");
    }

    @Test
    @Tag("nightly")
    void driversPublishAllAndAskTheApiServerOnceForEachThing() throws Exception {
        execute(
                "--nodes=" + NODES,
                "--devices=" + DEVICES,
                "--idle-seconds=11",
                "--json=" + folder.resolve("numbers.json"));

        assertThat(err.toString()).isEmpty();
        JsonNode numbers = numbers();
        assertThat(numbers.path("complete").asBoolean()).as(out.toString()).isTrue();
        assertThat(numbers.path("registered").asInt()).isEqualTo(NODES);
        assertThat(numbers.path("slices").asInt()).isEqualTo(2 * NODES);
        JsonNode requests = numbers.path("requests");
        assertThat(requests.path("create resourceslices").asInt()).isEqualTo(2 * NODES);
        assertThat(requests.path("get nodes").asInt()).isEqualTo(NODES);
        assertThat(requests.path("watch resourceslices").asInt()).isGreaterThanOrEqualTo(NODES);
        assertThat(numbers.path("requestsEach").asDouble())
                .as("%s", requests)
                .isLessThan(9); // 8, and what a machine under load repeats
        assertThat(numbers.at("/idle/requests")).as("in the pace of the upkeep").isEmpty();
        assertThat(numbers.at("/connectionsEach").asDouble()).isBetween(1.0, 5.0);
        JsonNode hour = numbers.path("perNodeAndHour");
        assertThat(hour.at("/idle/watch resourceslices/requests").asDouble())
                .as("each watch ends every 45 minutes")
                .isCloseTo(4 / 3.0, within(0.1));
        assertThat(hour.at("/idle").has("get resourceclaims")).isFalse();
        assertThat(hour.at("/busy/get resourceclaims/requests").asDouble())
                .as("a claim is read once to be prepared, and not to be unprepared")
                .isEqualTo(60);
        assertThat(hour.at("/busy/get resourceclaims/sentBytes").asDouble()).isGreaterThan(60 * 300);
        assertThat(numbers.at("/eachAdds/threads").asDouble()).isBetween(1.0, 11.0);
        assertThat(out.toString())
                .containsPattern("slices published +40\n")
                .containsPattern("in all +1[5-7][0-9] +[78].[0-9]+\n")
                .containsPattern("resident +[0-9.]+ MiB +[0-9.]+ MiB +-?[0-9.]+ KiB\n")
                .containsPattern("the same with 60 prepares +requests +KiB sent to it +KiB from it\n")
                .containsPattern("get resourceclaims +60.0 +[0-9.]+ +[0-9.]+\n")
                .containsPattern("other API requests +0 +0.00\n")
                .containsPattern("processor, of one core +[0-9.]+ % +[0-9.]+ %\n");
        assertThat(out.toString().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(101));
    }
}
