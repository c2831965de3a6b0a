// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import java.io.PrintWriter;
import java.io.StringWriter;
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

        @Test
        void saysAllOfARequirement() {
            assertThat(run("explain", "DRA-VER-02")).isZero();

            assertThat(out.toString())
                    .startsWith("DRA-VER-02\n\nRule      Both services share their state")
                    .contains("\nLevel     MUST\n")
                    .contains("\nProfile   node-core, a core profile\n")
                    .contains("\nSource    k8s.io/kubelet pkg/apis/dra/v1/api.proto\n")
                    .contains("\nApplies   if the driver serves both v1 and v1beta1 (both)\n")
                    .contains("\nNeeds     DRA-PREP-05 Prepare is idempotent")
                    .contains("\n          DRA-UNP-01 A prepared claim is unprepared")
                    .contains("\nTest      Prepare with one service")
                    .contains("\nHint      The kubelet that prepares a claim through v1beta1");
        }

        @Test
        void saysWhenARequirementAppliesAndWhatAPassIsWorth() {
            run("explain", "DRA-PREP-34", "DRA-VER-01", "DRA-RST-03");

            assertThat(out.toString())
                    .containsPattern("Applies   either if .* \\(api\\)\n +or if the suite may break")
                    .contains("Applies   up to Kubernetes 1.36")
                    .contains("(proc)\n          and if the driver answers with CDI device ids")
                    .containsPattern("so a\\s+pass\\s+proves\\s+nothing");
        }

        @Test
        void saysWhyThereIsNoTest() {
            run("explain", "DRA-PREP-35");

            assertThat(out.toString()).contains("Test      None: a black-box test cannot distinguish");
        }

        @Test
        void takesIdsAsPeopleTypeThem() {
            assertThat(run("explain", "prep-18")).isZero();

            assertThat(out.toString())
                    .startsWith("DRA-PREP-18\n")
                    .contains("Level     SHOULD, and MUST in a strict run\n");
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
