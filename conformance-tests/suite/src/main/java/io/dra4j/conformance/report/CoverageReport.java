// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * {@code coverage.md}: how much of the catalogue this run has tested, and why not more.
 *
 * <p>Requirements are counted, not their variants: one counts as tested if a variant of it was.
 */
final class CoverageReport {

    private static final int REASON = 300;
    private static final List<Verdict> NOT_TESTED =
            List.of(Verdict.UNTESTED, Verdict.SKIPPED, Verdict.BLOCKED, Verdict.NOT_APPLICABLE);

    private final Header header;
    private final Map<Requirement, List<Result>> results;
    private final List<String> notes;
    private final StringBuilder text = new StringBuilder();

    CoverageReport(RunOutcome outcome) {
        header = outcome.header();
        results = grouped(outcome.results(), Result::requirement);
        notes = outcome.notes();
    }

    /** The groups in the order of their first members. */
    static <K, V> Map<K, List<V>> grouped(List<V> all, Function<V, K> key) {
        return all.stream().collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
    }

    String text() {
        List<Requirement> all = List.copyOf(results.keySet());
        line("# Coverage of the requirements");
        line("");
        line("Driver %s, %s; requirements %s, suite %s; %s."
                .formatted(
                        cell(header.driverName()),
                        header.started().toString().substring(0, 10),
                        cell(header.catalogueVersion()),
                        cell(header.suiteVersion()),
                        cell(header.kubernetes().text())));
        line("");
        line(
                "Tested means that the check ran to its end, with any verdict. What is not applicable, blocked or untested is listed below with the reason. "
                        + Wording.NO_CERTIFICATION);
        line("");
        table("Level", grouped(all, requirement -> requirement.level().name()));
        table("Area and level", grouped(all, one -> one.area() + " " + one.level()));
        reasons(all);
        notes();
        return text.toString();
    }

    private void table(String title, Map<String, List<Requirement>> rows) {
        List<Verdict> columns = new ArrayList<>(List.of(Verdict.values()));
        columns.removeIf(verdict -> results.keySet().stream().noneMatch(is(verdict)));
        line("| "
                + title
                + " | requirements | tested | "
                + columns.stream().map(Wording::label).collect(Collectors.joining(" | "))
                + " |");
        line("|---|" + "--:|".repeat(columns.size() + 2));
        rows.forEach((name, members) -> row(name, members, columns));
        row("**all**", List.copyOf(results.keySet()), columns);
        line("");
    }

    private Predicate<Requirement> is(Verdict verdict) {
        return requirement -> verdict(requirement) == verdict;
    }

    private void row(String name, List<Requirement> members, List<Verdict> columns) {
        long tested = members.stream().filter(one -> tested(verdict(one))).count();
        StringBuilder row = new StringBuilder("| " + name + " | ");
        row.append(members.size()).append(" | ").append(tested).append(" |");
        for (Verdict column : columns) {
            long found = members.stream().filter(is(column)).count();
            row.append(found == 0 ? "  |" : " " + found + " |");
        }
        line(row.toString());
    }

    private void reasons(List<Requirement> all) {
        for (Verdict verdict : NOT_TESTED) {
            List<Requirement> members = all.stream().filter(is(verdict)).toList();
            if (!members.isEmpty()) {
                line("## Not tested: " + Wording.label(verdict));
                line("");
                members.forEach(this::reason);
                line("");
            }
        }
    }

    private void notes() {
        if (!notes.isEmpty()) {
            line("## Notes");
            line("");
            notes.forEach(note -> line("- " + cell(note)));
            line("");
        }
    }

    private void reason(Requirement requirement) {
        String reasons = results.get(requirement).stream()
                .map(Result::message)
                .map(message -> cell(Excerpt.line(message, REASON)))
                .filter(message -> !message.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        Level level = requirement.level();
        line("- **" + requirement.id() + "** (" + level + "): " + requirement.rule());
        line("  *" + (reasons.isEmpty() ? "no reason was given" : reasons) + "*");
    }

    private Verdict verdict(Requirement requirement) {
        List<Verdict> verdicts =
                results.get(requirement).stream().map(Result::verdict).toList();
        return Wording.WORST_FIRST.stream()
                .filter(verdicts::contains)
                .findFirst()
                .orElseThrow();
    }

    private static boolean tested(Verdict verdict) {
        return switch (verdict) {
            case PASS, FAIL, WARN, INFO, DEVIATION -> true;
            case NOT_APPLICABLE, BLOCKED, UNTESTED, SKIPPED, SUITE_ERROR -> false;
        };
    }

    /** Text on one line, in which nothing is markup. */
    static String cell(String words) {
        return VisibleText.of(words).strip().replaceAll("\\s+", " ").replaceAll("[\\\\`*_&<>\\[\\]|#]", "\\\\$0");
    }

    private void line(String words) {
        text.append(words).append('\n');
    }
}
