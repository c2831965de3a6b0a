// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.Measured.Unit;
import io.dra4j.conformance.report.Terminal.Colour;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.run.Outcome.ProfileOutcome;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The outcome of a run in a few lines: the verdict, what failed, what was not judged, and the counts. */
final class TerminalSummary {

    private static final List<Verdict> COLUMNS =
            List.of(Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_APPLICABLE);
    private static final int MESSAGE = 110;
    private static final int LINE = 160;

    private final Terminal terminal;
    private final Outcome outcome;
    private final List<String> lines = new ArrayList<>();

    TerminalSummary(Terminal terminal, Outcome outcome) {
        this.terminal = terminal;
        this.outcome = outcome;
    }

    List<String> lines() {
        verdict();
        failures(Verdict.FAIL);
        failures(Verdict.SUITE_ERROR);
        whatToDo();
        section(
                "NOT JUDGED",
                NotJudged.of(outcome).stream()
                        .map(group -> Excerpt.line(group.toString(), LINE))
                        .toList());
        nearALimit();
        lines.add("");
        lines.add("PROFILE                  RESULT           PASS  FAIL  WARN   N/A  OTHER");
        outcome.profileOutcomes().forEach(this::profile);
        others();
        Header header = outcome.header();
        lines.add("%s, %s, requirements %s, seed %d."
                .formatted(
                        terminal.shown(header.driverName()),
                        Wording.took(header.took()),
                        header.catalogueVersion(),
                        header.seed()));
        return lines;
    }

    private void section(String title, List<String> parts) {
        if (!parts.isEmpty()) {
            lines.add("");
            lines.add(title);
            parts.forEach(part -> lines.add("  " + terminal.shown(part)));
        }
    }

    private void profile(ProfileOutcome profile) {
        Map<Verdict, Integer> found = profile.statistics();
        StringBuilder numbers = new StringBuilder();
        int others = found.values().stream().mapToInt(Integer::intValue).sum();
        for (Verdict column : COLUMNS) {
            int number = found.getOrDefault(column, 0);
            others -= number;
            numbers.append("%6s".formatted(number == 0 ? terminal.either("·", "-") : number));
        }
        numbers.append("%7s".formatted(others == 0 ? terminal.either("·", "-") : others));
        String name = profile.profile().name() + (profile.profile().core() ? " (core)" : "");
        lines.add("%-23s  ".formatted(name)
                + terminal.coloured(colour(profile.success()), "%-14s".formatted(Wording.grade(profile)))
                + " "
                + numbers);
    }

    /** Prints the last column, if there is anything to count. */
    private void others() {
        Map<Verdict, Long> found = outcome.results().stream()
                .map(Result::verdict)
                .filter(verdict -> !COLUMNS.contains(verdict))
                .collect(Collectors.groupingBy(verdict -> verdict, TreeMap::new, Collectors.counting()));
        if (!found.isEmpty()) {
            lines.add(found.entrySet().stream()
                    .map(one -> one.getValue() + " " + Wording.label(one.getKey()))
                    .collect(Collectors.joining(", ", "OTHER: ", "")));
        }
    }

    private static Colour colour(Outcome.Success success) {
        return switch (success) {
            case SUCCESS -> Colour.GOOD;
            case PARTIAL -> Colour.DOUBTFUL;
            case FAILURE -> Colour.BAD;
            case NOT_APPLICABLE -> Colour.QUIET;
        };
    }

    private void failures(Verdict verdict) {
        List<Result> found = outcome.with(verdict);
        if (!found.isEmpty()) {
            lines.add("");
        }
        for (Result result : found) {
            String message = Excerpt.line(result.message(), MESSAGE);
            lines.add(AreaMarks.mark(terminal, verdict)
                    + " "
                    + terminal.coloured(Colour.STRONG, result.name())
                    + "  "
                    + terminal.shown(message));
            result.measurements().stream()
                    .filter(Measured::isOver)
                    .forEach(one -> lines.add("  measured " + terminal.shown(one.toString())));
        }
    }

    /** Times of passes that were more than half of what is allowed: they may fail elsewhere. */
    private void nearALimit() {
        List<String> near = new ArrayList<>();
        for (Result result : outcome.with(Verdict.PASS)) {
            result.measurements().stream()
                    .filter(one -> one.unit() == Unit.MILLISECONDS)
                    .filter(one -> !one.isOver() && one.value() > one.limit() / 2)
                    .forEach(one -> near.add(result.name() + "  " + one));
        }
        section("NEAR A LIMIT", near);
    }

    private void whatToDo() {
        Wording.worst(outcome)
                .ifPresent(id -> lines.add(
                        "What to do: see the hints above and in the report, or dra-conformance explain " + id));
    }

    private static List<String> wrapped(String text) {
        return text.replaceAll("(.{1,78})(?: |$)", "$1\n").lines().toList();
    }

    private void verdict() {
        Colour colour = switch (outcome.exitCode()) {
            case 0 -> Colour.GOOD;
            case 1 -> Colour.BAD;
            case 2 -> Colour.DOUBTFUL;
            default -> Colour.OTHER;
        };
        lines.add(terminal.coloured(colour, Wording.headline(outcome) + "."));
        lines.addAll(wrapped(Wording.sentence(outcome)));
        lines.add(outcome.header().kubernetes().text() + ".");
    }
}
