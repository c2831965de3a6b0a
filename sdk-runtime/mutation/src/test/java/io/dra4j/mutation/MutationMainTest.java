// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MutationMainTest {
    private static final String ONE = "a.OneTest.kills(int)";
    private static final String OTHER = "a.OtherTest.Inner.kills()";
    private static final String IDLE = "a.OtherTest.covers()";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @TempDir
    private Path root;

    @BeforeEach
    void createFolders() throws IOException {
        Files.createDirectories(root.resolve(".ci"));
        Files.createDirectories(root.resolve("m/target/mutation"));
        Files.createDirectories(root.resolve("m/target/coverage"));
    }

    @Test
    void aFallOfMoreThanHalfAPointFailsAndIsNamed() throws IOException {
        baseline("m,900,1000,80,100");
        mutants(894, 106);
        branches(70, 30);

        assertThat(run("check", "mutants", "m")).isFalse();
        assertThat(run("check", "branches", "m")).isFalse();
        assertThat(printed())
                .contains(
                        "m: killed mutants fell from 90.00 % (900 of 1000) to 89.40 % (894 of 1000)",
                        "m: covered branches fell from 80.00 % (80 of 100) to 70.00 % (70 of 100)");
    }

    @Test
    void lessThanThatAndRisesPass() throws IOException {
        baseline("m,900,1000,80,100");
        mutants(896, 104);
        branches(81, 19);

        assertThat(run("check", "mutants", "m")).isTrue();
        assertThat(run("check", "branches", "m")).isTrue();
    }

    @Test
    void aModuleWithoutALineFails() throws IOException {
        baseline("other,900,1000,,");
        mutants(900, 100);

        assertThat(run("check", "mutants", "m")).isFalse();
        assertThat(printed()).contains("m has no line in ");
    }

    @Test
    void aLineWithoutTheNumberThatWasMeasuredFails() throws IOException {
        baseline("m,900,1000,,");
        branches(70, 30);

        assertThat(run("check", "branches", "m")).isFalse();
        assertThat(printed()).contains("m: covered branches: ").contains(" has no number: add it");
    }

    @Test
    void aModuleThatWasNotMeasuredFails() throws IOException {
        baseline("m,900,1000,80,100");

        assertThatThrownBy(() -> run("check", "mutants", "m")).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> run("check", "branches", "m")).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void anUpdateWritesWhatWasMeasuredAndLeavesTheRest() throws IOException {
        baseline("m,900,1000,80,100", "other,1,2,3,4");
        mutants(1, 1);

        assertThat(run("update", "mutants", "m")).isTrue();
        assertThat(root.resolve(".ci/mutation.csv"))
                .hasContent("module,killed,mutants,covered,branches\nm,1,2,80,100\nother,1,2,3,4");
    }

    @Test
    void allMutantsAreNotComparedWithTheBaselineOfSome() throws IOException {
        baseline("m,900,1000,,");
        mutants(1, 1);

        assertThat(run("whole", "mutants", "m")).isTrue();
        assertThat(root.resolve(".ci/mutation.csv")).content().contains("m,900,1000,,");
        assertThat(root.resolve("m/target/mutation/tests.tsv")).exists();
    }

    @Test
    void theTableCountsWhatATestKillsAndWhatItKillsAlone() throws IOException {
        matrix();

        run("whole", "mutants", "m");

        assertThat(Files.readAllLines(root.resolve("m/target/mutation/tests.tsv")))
                .containsExactly("kills\talone\ttest", "2\t1\t" + ONE, "1\t0\t" + OTHER, "0\t0\t" + IDLE);
    }

    @Test
    void testsThatKillNothingAloneMayStillBeNeededTogether() throws IOException {
        matrix();

        assertThat(run("without", "m", "a.OtherTest")).isTrue();
        assertThat(run("without", "m", "a.OneTest.kills")).isFalse();
        assertThat(printed()).contains("a.A.f:7: alone\n", "Without these 1 tests, 1 more mutants survive");
        assertThat(run("without", "m", ONE, "a.OtherTest.Inner")).isFalse();
        assertThat(printed()).contains("a.A.f:7: both\n", "Without these 2 tests, 2 more mutants survive");
        assertThat(run("without", "m", "a.OneTest", "a.OtherTest")).isFalse();
        assertThat(printed()).contains("a.A.f:7: endless\n", "Without these 3 tests, 3 more mutants survive");
    }

    @Test
    void theMatrixSaysNothingAboutATestThatItDoesNotHave() throws IOException {
        matrix();

        assertThat(run("without", "m", "a.O")).isFalse();
        assertThat(printed()).contains("a.O is not in the matrix of m");
    }

    private boolean run(String... arguments) throws IOException {
        return new MutationMain(root, new PrintStream(out, true, UTF_8)).run(List.of(arguments));
    }

    private String printed() {
        return out.toString(UTF_8);
    }

    private void baseline(String... lines) throws IOException {
        Files.writeString(
                root.resolve(".ci/mutation.csv"),
                "module,killed,mutants,covered,branches\n" + String.join("\n", lines) + "\n");
    }

    private void matrix() throws IOException {
        report(mutant(true, "alone", ONE, ONE + "|" + IDLE)
                + mutant(true, "both", ONE + "|" + OTHER, ONE + "|" + OTHER)
                + mutant(true, "endless", "", ONE + "|" + OTHER + "|" + IDLE)
                + mutant(false, "survives", "", IDLE));
    }

    private void mutants(int killed, int surviving) throws IOException {
        String withoutTests = "<mutatedClass>a.A</mutatedClass><killingTest>" + ONE + "</killingTest></mutation>";
        report(("<mutation detected='true'>" + withoutTests).repeat(killed)
                + ("<mutation detected='false'>" + withoutTests).repeat(surviving));
    }

    private static String mutant(boolean detected, String description, String killing, String covering) {
        return "<mutation detected='" + detected + "'><mutatedClass>a.A</mutatedClass><mutatedMethod>f</mutatedMethod>"
                + "<lineNumber>7</lineNumber><killingTests>" + killing + "</killingTests><succeedingTests/>"
                + "<coveringTests>" + covering + "</coveringTests><description>" + description
                + "</description></mutation>";
    }

    private void report(String mutants) throws IOException {
        Files.writeString(
                root.resolve("m/target/mutation/mutations.xml"),
                "<?xml version='1.0' encoding='UTF-8'?><mutations>" + mutants + "</mutations>");
    }

    private void branches(int covered, int missed) throws IOException {
        Files.writeString(
                root.resolve("m/target/coverage/jacoco.csv"),
                "GROUP,PACKAGE,CLASS,BRANCH_MISSED,BRANCH_COVERED\nm,a,A," + missed + "," + covered + "\nm,a,B,0,0\n");
    }
}
