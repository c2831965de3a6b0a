// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The workflows of GitHub Actions parse, follow the rules for their safety, and run what exists. */
class WorkflowsTest {

    private static final Path GITHUB = Script.ROOT.resolve(".github");
    private static final Pattern PART = Pattern.compile("^ +(\\d+/\\d+)\\) step ", Pattern.MULTILINE);

    private static final String GOOD = """
            on: [pull_request]
            permissions:
              contents: read
            defaults:
              run:
                shell: bash
            jobs:
              gate:
                runs-on: ubuntu-24.04
                timeout-minutes: 60
                steps:
                  - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
                    with:
                      persist-credentials: false
                  - run: .ci/run
            """;

    static Stream<Path> files() throws Exception {
        try (Stream<Path> all = Files.walk(GITHUB)) {
            return all
                    .filter(file -> file.getParent().endsWith("workflows") || file.endsWith("action.yml"))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void followTheRules(Path file) throws Exception {
        assertThat(Workflow.faults(Files.readString(file))).isEmpty();
    }

    @Test
    void areFound() throws Exception {
        assertThat(files())
                .extracting(file -> GITHUB.relativize(file).toString())
                .contains(
                        "actions/jdks/action.yml",
                        "workflows/docs.yml",
                        "workflows/gate.yml",
                        "workflows/nightly.yml",
                        "workflows/release.yml");
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/repository/broken-workflows.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void ofWhichOneIsBrokenAreRefused(String old, String broken, String fault) throws Exception {
        assertThat(GOOD).contains(old);

        assertThat(Workflow.faults(GOOD)).isEmpty();
        assertThat(Workflow.faults(GOOD.replace(old, broken))).anyMatch(found -> found.contains(fault));
    }

    @Test
    void withASecretAndWithoutAnEnvironmentAreRefused() throws Exception {
        String push = GOOD.replace("pull_request", "push").replace("run: .ci/run", "env: {A: '${{ secrets.A }}'}");

        assertThat(Workflow.faults(push)).singleElement().asString().contains("without an environment");
        assertThat(Workflow.faults(push.replace("runs-on:", "environment: release\n    runs-on:")))
                .isEmpty();
    }

    @Test
    void withAKeyTwiceAreNotRead() {
        assertThatThrownBy(() -> Workflow.faults(GOOD + "on: push\n")).hasMessageContaining("Duplicate field 'on'");
    }

    @Test
    void runEachPartOfTheNightly() throws Exception {
        List<String> listed =
                Script.run(Map.of(), ".ci/nightly", "--list").output().lines().toList();
        String script = Files.readString(Script.ROOT.resolve(".ci/nightly"));

        assertThat(listed)
                .hasSizeGreaterThan(3)
                .isEqualTo(PART.matcher(script)
                        .results()
                        .map(part -> part.group(1))
                        .toList());
        assertThat(Files.readString(GITHUB.resolve("workflows/nightly.yml")))
                .contains(".ci/nightly --list", "part: ${{ fromJSON(needs.parts.outputs.parts) }}");
    }

    /** The files that contain a text, except for this one. */
    private static List<String> holding(String text) throws Exception {
        String grep = "grep -rlF --include=*.java --exclude-dir=target --exclude-dir=node_modules '" + text + "' .";
        return Script.run(Map.of(), "-c", grep)
                .output()
                .lines()
                .filter(file -> !file.endsWith("/WorkflowsTest.java"))
                .sorted()
                .toList();
    }

    @Test
    void selectEachTestWithMoreToDoAtNight() throws Exception {
        assertThat(holding("dra4j.nightly")).hasSizeGreaterThan(15).isEqualTo(holding("@Tag(\"counts\")"));
    }
}
