// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The output on a terminal, and in the log of a build. */
class TerminalProgressTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private TerminalProgress on(boolean unicode, boolean live) {
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        return new TerminalProgress(new Terminal(out, unicode, live));
    }

    private String printed() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private List<String> lines() {
        return printed().lines().toList();
    }

    /** The screen of a terminal: it knows colours, and how to take lines back. */
    private List<String> screen() {
        List<String> screen = new ArrayList<>();
        for (String line : printed().replaceAll("\u001b\\[\\d+m", "").split("\\R")) {
            String rest = line;
            while (rest.startsWith("\u001b[")) {
                int up = Integer.parseInt(rest.substring(2, rest.indexOf('A')));
                rest = rest.substring(rest.indexOf("\u001b[J") + 3);
                screen = new ArrayList<>(screen.subList(0, screen.size() - up));
            }
            screen.add(rest);
        }
        return screen;
    }

    private static Result result(String id, String variant, Verdict verdict, String message) {
        Requirement requirement = SampleOutcome.CATALOGUE.find(id).orElseThrow();
        int index = SampleOutcome.CATALOGUE.requirements().indexOf(requirement);
        return SampleOutcome.result(index, variant, verdict, message);
    }

    private static final Result FAILED = result("DRA-PREP-03", "v1", Verdict.FAIL, "gpu-1 is not r0's\nlook → there");

    @Test
    void isSilentAfterASignal() {
        TerminalProgress progress = on(true, true);

        progress.silence();
        progress.ended(FAILED);
        progress.finished(SampleOutcome.ordinary(), List.of());

        assertThat(printed()).isEmpty();
    }

    @Nested
    class InTheLogOfABuild {

        @Test
        void eachResultIsALine() {
            TerminalProgress progress = on(true, false);

            progress.started(new KubernetesServer("1.38", "embedded", Map.of()));
            progress.begun(FAILED.requirement(), "v1");
            progress.ended(result("DRA-REG-01", "", Verdict.PASS, ""));
            progress.ended(result("DRA-HLT-01", "", Verdict.NOT_APPLICABLE, "no health\nservice"));

            assertThat(lines())
                    .containsExactly(
                            "Kubernetes 1.38, embedded API server; feature gates: the release's defaults",
                            "pass            DRA-REG-01                137 ms",
                            "not applicable  DRA-HLT-01                        no health");
        }

        @Test
        void whatIsBlockedInTheSameWayIsALine() {
            TerminalProgress progress = on(true, false);

            progress.ended(result("DRA-REG-01", "", Verdict.BLOCKED, "why"));
            progress.ended(result("DRA-REG-02", "", Verdict.BLOCKED, "why"));
            progress.ended(result("DRA-REG-03", "", Verdict.BLOCKED, "why else"));
            progress.ended(result("DRA-HLT-01", "", Verdict.NOT_APPLICABLE, "no health"));

            assertThat(lines())
                    .containsExactly(
                            "blocked         DRA-REG-01                        why  (and 1 more)",
                            "blocked         DRA-REG-03                        why else",
                            "not applicable  DRA-HLT-01                        no health");
        }

        @Test
        void aFailureIsShownWithRuleAndMessage() {
            on(true, false).ended(FAILED);

            assertThat(lines())
                    .startsWith("fail            DRA-PREP-03[v1]           137 ms", "✗ node-core.DRA-PREP-03[v1] fail")
                    .anyMatch(line -> line.startsWith("  rule  MUST "))
                    .anyMatch(line -> line.startsWith("  hint  "))
                    .anyMatch(line -> line.startsWith("  from  k8s.io/"))
                    .containsSequence("  found gpu-1 is not r0's", "        look → there")
                    .contains("  more  dra-conformance explain DRA-PREP-03");
        }

        @Test
        void asciiIsEnough() {
            TerminalProgress progress = on(false, false);

            progress.ended(FAILED);
            progress.ended(result("DRA-PREP-18", "v1", Verdict.WARN, "שלום … \u001b[2J"));
            progress.finished(SampleOutcome.ordinary(), List.of());

            assertThat(printed()).matches("(?s)[\\x0a\\x0d\\x20-\\x7e]*");
            assertThat(printed()).contains("look -> there", "???? ... \\u001b[2J");
        }

        @Test
        void aLongMessageIsCut() {
            on(true, false).ended(result("DRA-PREP-03", "v1", Verdict.FAIL, "x\n".repeat(500_000)));
            on(true, false).ended(result("DRA-PREP-03", "v1", Verdict.FAIL, "y".repeat(1_000_000)));

            assertThat(printed().length()).isLessThan(5000);
            assertThat(lines()).contains("        (the rest is in the report)");
        }
    }

    @Nested
    class OnATerminal {

        @Test
        void anAreaIsALineThatGrows() {
            TerminalProgress progress = on(true, true);
            Requirement second = FAILED.requirement();

            progress.ended(result("DRA-REG-01", "", Verdict.PASS, ""));
            progress.ended(result("DRA-PREP-01", "v1", Verdict.PASS, ""));
            progress.ended(result("DRA-REG-02", "", Verdict.BLOCKED, "why"));
            progress.begun(second, "v1");

            assertThat(screen()).containsExactly("REG    ✓b", "PREP   ✓ DRA-PREP-03[v1]");
        }

        @Test
        void aFailureStandsAboveTheLines() {
            TerminalProgress progress = on(true, true);

            progress.ended(result("DRA-REG-01", "", Verdict.PASS, ""));
            progress.ended(FAILED);
            progress.ended(result("DRA-REG-02", "", Verdict.PASS, ""));

            assertThat(screen()).startsWith("✗ node-core.DRA-PREP-03[v1] fail");
            assertThat(screen()).endsWith("", "REG    ✓✓", "PREP   ✗");
        }

        @Test
        void noLineOfAnAreaIsBroken() {
            TerminalProgress progress = on(true, true);

            for (int i = 0; i < 200; i++) {
                progress.ended(result("DRA-PREP-01", "v1", Verdict.PASS, ""));
            }
            progress.begun(FAILED.requirement(), "v1beta1");

            assertThat(screen()).hasSize(1);
            assertThat(screen().get(0)).startsWith("PREP   …✓").hasSizeLessThan(80);
        }

        @Test
        void theColourRepeatsTheMark() {
            on(true, true).ended(FAILED);

            assertThat(printed()).contains("\u001b[31m✗\u001b[0m");
        }
    }

    @Nested
    class WhatItIs {

        private final PrintStream out = new PrintStream(bytes);

        @ParameterizedTest
        @CsvSource({"UTF-8, true", "ANSI_X3.4-1968, false", "ISO-8859-1, false", "none, false", ", false"})
        void theCharsetOfTheStreamLimitsWhatIsShown(@Nullable String charset, boolean unicode) {
            assertThat(Terminal.of(out, true, charset, Map.of()).unicode()).isEqualTo(unicode);
        }

        @Test
        void onlyATerminalThatCanIsLive() {
            assertThat(live(true, Map.of("TERM", "xterm", "NO_COLOR", ""))).isTrue();
            assertThat(live(false, Map.of("TERM", "xterm"))).isFalse();
            assertThat(live(true, Map.of("TERM", "dumb"))).isFalse();
            assertThat(live(true, Map.of("NO_COLOR", "1"))).isFalse();
            assertThat(live(true, Map.of("CI", "true"))).isFalse();
        }

        private boolean live(boolean console, Map<String, String> environment) {
            return Terminal.of(out, console, "UTF-8", environment).live();
        }
    }

    @Nested
    class InTheEnd {

        @Test
        void thereIsATableTheFailuresAndTheVerdict() throws Exception {
            RunOutcome few = SampleOutcome.noted("known failures: DRA-X-01 is listed");
            on(true, false).finished(few, List.of(Path.of("out", "report.html")));

            SampleOutcome.assertIs("terminal.txt", printed());
        }

        @Test
        void whatIsNotJudgedAndTheRootOfItAreNamed() {
            Result root = result("DRA-PREP-05", "", Verdict.FAIL, "refused");
            RunOutcome outcome = SampleOutcome.outcome(List.of(
                    result("DRA-PREP-03", "", Verdict.FAIL, "another"),
                    root,
                    blocked("DRA-RST-01", "DRA-PREP-05"),
                    blocked("DRA-RST-04", "DRA-PREP-05"),
                    result("DRA-HLT-01", "", Verdict.NOT_APPLICABLE, "no health\nservice")));

            on(true, false).finished(outcome, List.of());

            assertThat(lines())
                    .startsWith("", "Failed.")
                    .contains(
                            "What to do: see the hints above and in the report, or dra-conformance explain DRA-PREP-05")
                    .containsSequence(
                            "NOT JUDGED",
                            "  blocked by DRA-PREP-05: 2 requirements: DRA-RST-01 DRA-RST-04",
                            "  not applicable, no health: 1 requirement: DRA-HLT-01");
        }

        private static Result blocked(String id, String by) {
            Result result = result(id, "", Verdict.BLOCKED, "needs " + by);
            return new Result(
                    result.requirement(),
                    "",
                    result.verdict(),
                    result.message(),
                    result.took(),
                    result.evidence(),
                    List.of(),
                    by);
        }

        @Test
        void theVerdictIsInWords() {
            assertThat(summary(Verdict.PASS)).contains("Passed. The driver follows every rule that it must follow.");
            assertThat(summary(Verdict.WARN)).contains("must follow, and breaks 1 that it should follow.");
            assertThat(summary(Verdict.FAIL)).contains("Failed. The driver breaks 1 rule that it must follow.");
            assertThat(summary(Verdict.DEVIATION)).contains("Partly passed.", "tested: node-core.");
        }

        private String summary(Verdict verdict) {
            RunOutcome outcome = SampleOutcome.outcome(List.of(result("DRA-REG-01", "", verdict, "m")));
            bytes.reset();
            on(true, false).finished(outcome, List.of());
            return printed().replaceAll("\\s+", " "); // long sentences are broken
        }
    }
}
