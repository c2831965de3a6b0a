// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.Measured.Unit;
import io.dra4j.conformance.report.Terminal.Colour;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.RunOutcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints the progress of a run, and in the end its outcome.
 *
 * <p>On a terminal, each area is a line of marks that grows; elsewhere each result is a line. What
 * is wrong is printed immediately, with the rule and the hint. Secrets are redacted. Thread-safe.
 */
public final class TerminalProgress implements Progress {

    private static final int LINES = 20;
    private static final int LINE = 400;

    /** The limit of a driver's message, which may contain a whole object. */
    private static final int FOUND = 200;

    private final Terminal terminal;
    private final AreaMarks areas; // guarded by this
    private final List<Result> blocked = new ArrayList<>(); // equal ones, not printed yet; guarded by this
    private boolean silent; // guarded by this

    public TerminalProgress(Terminal terminal) {
        this.terminal = terminal;
        this.areas = new AreaMarks(terminal);
    }

    @Override
    public synchronized void started(KubernetesServer kubernetes) {
        terminal.line(terminal.shown(kubernetes.text()));
        terminal.flush();
    }

    @Override
    public synchronized void begun(Requirement requirement, String variant) {
        areas.begun(requirement.area(), requirement.id() + bracketed(variant));
        redraw(List.of());
    }

    @Override
    public synchronized void ended(Result result) {
        Requirement requirement = result.requirement();
        areas.ended(requirement.area(), requirement.id() + bracketed(result.variant()), result.verdict());
        Result clean = Redaction.result(result);
        redraw(terminal.live() ? problem(clean) : lines(clean));
    }

    /** The lines of a result; consecutive results that are blocked in the same way share one. */
    private List<String> lines(Result result) {
        boolean more = result.verdict() == Verdict.BLOCKED
                && (blocked.isEmpty() || reason(blocked.get(0)).equals(reason(result)));
        List<String> lines = new ArrayList<>(more ? List.of() : blocked());
        if (result.verdict() == Verdict.BLOCKED) {
            blocked.add(result);
        } else {
            lines.addAll(line(result));
        }
        return lines;
    }

    private static String reason(Result result) {
        return result.blockedBy().isEmpty() ? result.message() : result.blockedBy();
    }

    private List<String> blocked() {
        List<String> lines = blocked.stream().findFirst().map(this::line).orElse(List.of());
        String more = blocked.size() < 2 ? "" : "  (and %d more)".formatted(blocked.size() - 1);
        blocked.clear();
        return lines.stream().map(line -> line + more).toList();
    }

    private static String bracketed(String variant) {
        return variant.isEmpty() ? "" : "[" + variant + "]";
    }

    /** Prints lines above the lines of the areas. */
    private void redraw(List<String> above) {
        if (silent) {
            return;
        }
        terminal.erase(areas.drawn());
        above.forEach(terminal::line);
        areas.draw();
        terminal.flush();
    }

    private List<String> line(Result result) {
        String line = "%-14s  %-22s  %8s"
                .formatted(
                        Wording.label(result.verdict()),
                        result.requirement().id() + bracketed(result.variant()),
                        result.took().isZero() ? "" : Wording.took(result.took()));
        List<String> problem = problem(result);
        if (problem.isEmpty() && !result.message().isBlank()) {
            line += "  " + terminal.shown(Excerpt.line(result.message(), FOUND));
        }
        return Stream.concat(Stream.of(line.stripTrailing()), problem.stream()).toList();
    }

    /** Prints a bad result immediately: the rule, the finding, and a hint. */
    private List<String> problem(Result result) {
        return switch (result.verdict()) {
            case FAIL, WARN, SUITE_ERROR, DEVIATION -> details(result);
            case PASS, INFO, NOT_APPLICABLE, BLOCKED, UNTESTED, SKIPPED -> List.of();
        };
    }

    private List<String> details(Result result) {
        Requirement requirement = result.requirement();
        String title = AreaMarks.mark(terminal, result.verdict())
                + " "
                + terminal.coloured(Colour.STRONG, result.name())
                + " "
                + terminal.coloured(AreaMarks.colour(result.verdict()), Wording.label(result.verdict()));
        List<String> details = new ArrayList<>(List.of(title));
        details.addAll(part("rule", requirement.level() + " " + requirement.rule(), LINE));
        details.addAll(part("found", result.message(), FOUND));
        details.addAll(part("hint", requirement.hint(), LINE));
        details.addAll(part("from", requirement.source(), LINE));
        details.addAll(part("more", "dra-conformance explain " + requirement.id(), LINE));
        details.add("");
        return details;
    }

    private List<String> part(String name, String text, int most) {
        if (text.isBlank()) {
            return List.of();
        }
        List<String> all =
                terminal.shown(text.strip()).lines().limit(LINES + 1L).toList();
        String label = terminal.coloured(Colour.QUIET, "  %-6s".formatted(name));
        String margin = " ".repeat(8);
        List<String> lines = new ArrayList<>();
        all.stream()
                .limit(LINES)
                .map(line -> Excerpt.line("|" + line, most).substring(1))
                .forEach(line -> lines.add(terminal.shown(margin + line)));
        lines.set(0, label + lines.get(0).substring(8));
        if (all.size() > LINES) {
            lines.add(margin + "(the rest is in the report)");
        }
        return lines;
    }

    /** Prints nothing from now on: results of drivers that a signal has ended say nothing about them. Idempotent. */
    public synchronized void silence() {
        silent = true;
    }

    /** Prints the outcome of the run, and the reports that were written. */
    public synchronized void finished(RunOutcome outcome, List<Path> files) {
        if (silent) {
            return;
        }
        blocked().forEach(terminal::line);
        terminal.line("");
        RunOutcome clean = Redaction.outcome(outcome);
        new TerminalSummary(terminal, clean).lines().forEach(terminal::line);
        List<String> notes = clean.notes();
        if (!notes.isEmpty()) {
            terminal.line("");
        }
        notes.forEach(note -> terminal.line("Note: " + terminal.shown(note)));
        if (!files.isEmpty()) {
            terminal.line("");
        }
        files.forEach(file -> terminal.line("Report: " + terminal.shown(file.toString())));
        terminal.flush();
    }

    /** The outcome of a run in a few lines: the verdict, what failed, what was not judged, and the counts. */
    private static final class TerminalSummary {

        private static final List<Verdict> COLUMNS =
                List.of(Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_APPLICABLE);
        private static final int MESSAGE = 110;
        private static final int LINE = 160;

        private final Terminal terminal;
        private final RunOutcome outcome;
        private final List<String> lines = new ArrayList<>();

        TerminalSummary(Terminal terminal, RunOutcome outcome) {
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

        private static Colour colour(RunOutcome.Success success) {
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

        /** Passes that took more than half of the allowed time: they may fail elsewhere. */
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

    /**
     * A line for each area: a mark for each result, and the requirement in progress.
     *
     * <p>No line is wider than 80 columns, because one that wraps could not be erased. Draws nothing if lines cannot be
     * erased. Not thread-safe.
     */
    private static final class AreaMarks {

        private static final int MARKS = 48;

        private final Terminal terminal;
        private final Map<String, Area> areas = new LinkedHashMap<>();
        private int drawn;

        private record Area(List<Verdict> verdicts, Set<String> running) {
            Area() {
                this(new ArrayList<>(), new LinkedHashSet<>());
            }
        }

        AreaMarks(Terminal terminal) {
            this.terminal = terminal;
        }

        void begun(String area, String what) {
            area(area).running().add(what);
        }

        void ended(String area, String what, Verdict verdict) {
            area(area).running().remove(what);
            area(area).verdicts().add(verdict);
        }

        private Area area(String name) {
            return areas.computeIfAbsent(name, missing -> new Area());
        }

        int drawn() {
            return drawn;
        }

        void draw() {
            if (terminal.live()) {
                areas.forEach((name, area) -> terminal.line(line(name, area)));
                drawn = areas.size();
            }
        }

        private String line(String name, Area area) {
            List<Verdict> all = area.verdicts();
            boolean cut = all.size() > MARKS;
            String marks = all.subList(cut ? all.size() - MARKS + 1 : 0, all.size()).stream()
                    .map(verdict -> mark(terminal, verdict))
                    .collect(Collectors.joining());
            String running = area.running().stream().findFirst().orElse("");
            String before = cut ? terminal.either("…", "+") : "";
            return "%-6s ".formatted(name)
                    + before
                    + marks
                    + (running.isEmpty() ? "" : " " + terminal.coloured(Colour.QUIET, running));
        }

        static String mark(Terminal terminal, Verdict verdict) {
            String mark = switch (verdict) {
                case PASS -> terminal.either("✓", ".");
                case FAIL -> terminal.either("✗", "F");
                case WARN -> "!";
                case INFO -> "i";
                case NOT_APPLICABLE -> "-";
                case BLOCKED -> "b";
                case UNTESTED -> "u";
                case SKIPPED -> "s";
                case DEVIATION -> "d";
                case SUITE_ERROR -> "E";
            };
            return terminal.coloured(colour(verdict), mark);
        }

        static Colour colour(Verdict verdict) {
            return switch (verdict) {
                case PASS -> Colour.GOOD;
                case FAIL -> Colour.BAD;
                case WARN, DEVIATION -> Colour.DOUBTFUL;
                case BLOCKED, SUITE_ERROR -> Colour.OTHER;
                case INFO, NOT_APPLICABLE, UNTESTED, SKIPPED -> Colour.QUIET;
            };
        }
    }
}
