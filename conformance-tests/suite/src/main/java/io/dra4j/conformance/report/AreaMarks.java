// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.report.Terminal.Colour;
import io.dra4j.conformance.run.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A line for each area: a mark for each result, and the requirement in progress.
 *
 * <p>No line is wider than 80 columns, because one that wraps could not be erased. Draws nothing if lines cannot be
 * erased. Not thread-safe.
 */
final class AreaMarks {

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

    /** Returns the number of lines so far. */
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
