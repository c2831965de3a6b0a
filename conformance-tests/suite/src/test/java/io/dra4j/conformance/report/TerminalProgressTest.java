// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.Scenarios;
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

    @Scenarios("progress-scenarios.txt")
    void isShown(String scenario) {
        TerminalProgress progress = on(true, false);
        List<Result> results = new ArrayList<>();
        boolean live = false;
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ", 4);
            String text =
                    line.substring(line.indexOf(' ') + 1).replace("\\n", "\n").replace("\\e", "\u001b");
            switch (words[0]) {
                case "#" -> {} // its title
                case "log" -> {} // as it begins
                case "ascii" -> progress = on(false, false);
                case "terminal" -> {
                    progress = on(true, true);
                    live = true;
                }
                case "started" -> progress.started(new KubernetesServer(words[1], "embedded", Map.of()));
                case "begun" ->
                    progress.begun(
                            SampleOutcome.CATALOGUE.find(words[1]).orElseThrow(), words.length > 2 ? words[2] : "");
                case "ended" -> progress.ended(result(text));
                case "result" -> results.add(result(text));
                case "finished" ->
                    progress.finished(
                            results.isEmpty() ? SampleOutcome.ordinary() : SampleOutcome.outcome(results), List.of());
                case "is" -> assertThat(live ? screen() : lines()).containsExactly(text.split("\\|"));
                case "first" -> assertThat(live ? screen() : lines()).startsWith(text.split("\\|"));
                case "last" -> assertThat(live ? screen() : lines()).endsWith(text.split("\\|"));
                case "has" -> assertThat(printed()).contains(text.replace("\\\\", "\\"));
                case "words" -> assertThat(printed().replaceAll("\\s+", " ")).contains(text);
                case "matches" -> assertThat(printed()).containsPattern(line.substring(8));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    /** A verdict, the requirement, in a variant, and a message, or the requirement that blocks it after "by". */
    private static Result result(String text) {
        String[] words = text.split(" ", 3);
        String[] name = words[1].split("[\\[\\]]");
        String message = words.length > 2 ? words[2] : "";
        Result result = result(name[0], name.length > 1 ? name[1] : "", Verdict.valueOf(words[0]), message);
        return message.startsWith("by ")
                ? new Result(
                        result.requirement(),
                        "",
                        result.verdict(),
                        message.replace("by", "needs"),
                        result.took(),
                        result.evidence(),
                        List.of(),
                        message.substring(3))
                : result;
    }

    @Test
    void aLongMessageOfALogIsCut() {
        on(true, false).ended(result("DRA-PREP-03", "v1", Verdict.FAIL, "x\n".repeat(500_000)));
        on(true, false).ended(result("DRA-PREP-03", "v1", Verdict.FAIL, "y".repeat(1_000_000)));

        assertThat(printed().length()).isLessThan(5000);
        assertThat(lines()).contains("        (the rest is in the report)");
    }

    @Test
    void noLineOfAnAreaOfATerminalIsBroken() {
        TerminalProgress progress = on(true, true);

        for (int i = 0; i < 200; i++) {
            progress.ended(result("DRA-PREP-01", "v1", Verdict.PASS, ""));
        }
        progress.begun(FAILED.requirement(), "v1beta1");

        assertThat(screen()).hasSize(1);
        assertThat(screen().get(0)).startsWith("PREP   …✓").hasSizeLessThan(80);
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

    @Test
    void inTheEndThereIsATableTheFailuresAndTheVerdict() throws Exception {
        RunOutcome few = SampleOutcome.noted("known failures: DRA-X-01 is listed");
        on(true, false).finished(few, List.of(Path.of("out", "report.html")));

        SampleOutcome.assertIs("terminal.txt", printed());
    }
}
