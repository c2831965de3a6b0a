// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CatalogueCommandsTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Nested
    class List {

        @Test
        void givesEachRequirementALine() {
            assertThat(run("list")).isZero();

            assertThat(Catalogue.load().requirements())
                    .extracting(Requirement::id)
                    .allSatisfy(id -> assertThat(out.toString()).containsOnlyOnce("\n" + id + " "));
            assertThat(out.toString())
                    .contains(Catalogue.load().requirements().size() + " requirements of catalogue")
                    .containsPattern("catalogue 2026\\.1: \\d+ MUST")
                    .containsPattern("\nDRA-PREP-18 +SHOULD\\* +node-core ")
                    .contains("* A MUST in a strict run.");
            assertFits(out.toString());
        }

        @Test
        void showsWhatWasAskedFor() {
            assertThat(run("list", "--profile", "performance", "--profile=cdi", "--level", "should"))
                    .isZero();

            assertThat(out.toString().lines().filter(line -> line.startsWith("DRA-")))
                    .hasSize(3 + 5)
                    .allMatch(line -> line.matches("DRA-(PERF|CDI)-\\d\\d +SHOULD +.*"));
        }

        @Test
        void refusesAProfileThatIsNotThere() {
            assertThat(run("list", "--profile", "fast")).isEqualTo(3);

            assertThat(err.toString()).contains("unknown profile fast; known profiles are node-core, cdi, ");
            assertThat(out.toString()).isEmpty();
        }
    }

    @Nested
    class Explain {

        /** Ids are as people type them; of some, a pass is worth little, or there is no test, or an alternative. */
        @Test
        void saysAllOfARequirement() throws IOException {
            assertThat(run("explain", "DRA-VER-02", "prep-18", "DRA-PREP-34", "ver-01", "DRA-RST-03", "PREP-35"))
                    .isZero();

            new ReferenceFile(Path.of("src/test/resources/io/dra4j/conformance/explain.txt")).assertIs(out.toString());
        }

        @Test
        void fitsATerminalForEachRequirement() {
            Stream<String> ids = Catalogue.load().requirements().stream().map(Requirement::id);

            int status = run(Stream.concat(Stream.of("explain"), ids).toArray(String[]::new));

            assertThat(status).isZero();
            assertFits(out.toString());
        }

        @Test
        void namesTheNearestIdsOfAnUnknownOne() {
            assertThat(run("explain", "DRA-SLCE-03")).isEqualTo(3);

            assertThat(err.toString())
                    .startsWith(
                            "dra-conformance explain: unknown requirement DRA-SLCE-03; the nearest are DRA-SLICE-03, ");
            assertThat(err.toString().lines()).hasSize(2);
        }
    }

    @Nested
    class Anything {

        @Test
        void isRefusedInTwoLinesIfItIsNoCommand() {
            assertThat(run("explan", "DRA-PREP-01")).isEqualTo(3);

            assertThat(err.toString()).isEqualTo("""
                            dra-conformance: unknown command or option explan
                            See `dra-conformance --help`.
                            """);
        }

        @Test
        void isRefusedInTwoLinesIfSomethingIsMissing() {
            assertThat(run("explain")).isEqualTo(3);

            assertThat(err.toString()).startsWith("dra-conformance explain: Missing required");
            assertThat(err.toString().lines()).hasSize(2);
        }
    }

    private int run(String... args) {
        CommandLine command = ConformanceMain.commandLine();
        return command.setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }

    /** Not every terminal of a container knows more than ASCII. */
    private static void assertFits(String text) {
        assertThat(text.lines())
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100))
                .allSatisfy(line -> assertThat(line).matches("\\p{ASCII}*"));
    }
}
