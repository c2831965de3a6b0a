// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.selfcheck.Programs;
import io.dra4j.testkit.Scenarios;
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

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

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

    /** The fake driver, started by a shell script that has {@code "$@"}. */
    private static List<String> scripted(String script, int devices) {
        return Stream.concat(Stream.of("sh", "-c", script, "sh"), Programs.fake("--num-devices=" + devices).stream())
                .toList();
    }

    @Scenarios("bench-scenarios.txt")
    void driversAreMeasured(String scenario) throws Exception {
        String script = "exec \"$@\"";
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ");
            String text = line.substring(line.indexOf(' ') + 1);
            List<String> options = List.of(words).subList(Math.min(3, words.length), words.length);
            switch (words[0]) {
                case "#" -> {} // its title, or a reason
                case "script" -> script = text;
                case "bench" -> {
                    String[] driver =
                            scripted(script, Integer.parseInt(words[1])).toArray(String[]::new);
                    assertThat(bench(options, driver)).as(err.toString()).isEqualTo(Integer.parseInt(words[2]));
                }
                case "nodes" -> {
                    execute((text + " --json=" + folder.resolve("numbers.json")).split(" "));
                    assertThat(err.toString()).isEmpty();
                }
                case "has" -> assertThat(out.toString()).contains(text);
                case "matches" -> assertThat(out.toString()).containsPattern(text);
                case "no-match" -> assertThat(out.toString()).doesNotContainPattern(text);
                case "err" -> assertThat(err.toString()).contains(text);
                case "err-is" -> assertThat(err.toString().lines()).containsExactly(text);
                case "fits" -> assertTheTableFits();
                case "all-fit" ->
                    assertThat(out.toString().lines())
                            .allSatisfy(one -> assertThat(one).hasSizeLessThan(101));
                default -> assertNumber(words, text.substring(text.indexOf('/')));
            }
        }
    }

    @Scenarios("bench-nightly-scenarios.txt")
    @Tag("nightly")
    void driversAreMeasuredForLong(String scenario) throws Exception {
        driversAreMeasured(scenario);
    }

    private void assertNumber(String[] words, String pointer) throws IOException {
        JsonNode numbers = numbers();
        JsonNode found = numbers.at(pointer);
        assertThat(found.isMissingNode())
                .as(pointer)
                .isEqualTo(List.of("missing", "over").contains(words[0]));
        switch (words[0]) {
            case "between" ->
                assertThat(found.asDouble())
                        .as("%s of %s", pointer, numbers)
                        .isBetween(Double.valueOf(words[1]), Double.valueOf(words[2]));
            case "positive" -> assertThat(found.asDouble()).as(pointer).isPositive();
            case "integral" -> assertThat(found.isIntegralNumber()).as(pointer).isTrue();
            case "size" -> assertThat(found).hasSize(Integer.parseInt(words[1]));
            case "text" -> assertThat(found.asText()).as(out.toString()).isEqualTo(words[1]);
            case "missing" -> {} // as seen before
            case "over" ->
                assertThat(numbers.at(words[1]).asLong())
                        .isGreaterThan(numbers.at(words[2]).asLong());
            default -> throw new IllegalArgumentException(words[0]);
        }
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
}
