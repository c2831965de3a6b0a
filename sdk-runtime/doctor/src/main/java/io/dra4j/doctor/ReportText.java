// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.List;
import java.util.Locale;

/** Renders a report as text. */
final class ReportText {

    private static final int WIDTH = 100;
    private static final String INDENT = "  ";

    private final StringBuilder text = new StringBuilder();

    private ReportText() {}

    static String of(String title, List<Checked> checks, List<Finding> findings) {
        ReportText report = new ReportText();
        report.text.append(title).append("\n\n");
        report.checks(checks);
        findings.forEach(report::finding);
        report.sum(checks, findings.size());
        return report.text.toString();
    }

    static String lower(Severity severity) {
        return severity.name().toLowerCase(Locale.ROOT);
    }

    private void checks(List<Checked> checks) {
        int longest = checks.stream().mapToInt(one -> one.id().length()).max().orElse(0);
        for (Checked one : checks) {
            String line = "%-11s  %-" + Math.max(1, longest) + "s  %s";
            wrap(line.formatted(state(one), one.id(), words(one)), INDENT, longest + 17);
        }
    }

    private static String state(Checked one) {
        if (!one.notChecked().isEmpty()) {
            return "not checked";
        }
        return one.isHealthy() ? "ok" : "FOUND";
    }

    private static String words(Checked one) {
        if (!one.notChecked().isEmpty()) {
            return one.notChecked();
        }
        return one.isHealthy() ? one.fact() : number(one.findings().size(), "finding");
    }

    private void finding(Finding finding) {
        text.append('\n');
        wrap(
                "%s %s, %s: %s".formatted(lower(finding.severity()), finding.id(), finding.object(), finding.what()),
                "",
                2);
        wrap("why: " + finding.why(), INDENT, 7);
        for (int i = 0; i < finding.mend().size(); i++) {
            // Commands are never wrapped: they are to be copied.
            text.append(i == 0 ? "  mend: " : "        ")
                    .append(finding.mend().get(i))
                    .append('\n');
        }
    }

    private void sum(List<Checked> checks, int findings) {
        long blind = checks.stream().filter(one -> !one.notChecked().isEmpty()).count();
        text.append('\n').append(number(checks.size() - blind, "check")).append(" looked: ");
        text.append(findings == 0 ? "nothing found" : number(findings, "finding"));
        text.append(blind == 0 ? "" : "; " + number(blind, "check") + " could not look")
                .append('\n');
    }

    private static String number(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** Breaks at spaces; lines after the first are indented so far. */
    private void wrap(String words, String first, int hanging) {
        StringBuilder line = new StringBuilder(first);
        boolean fresh = true;
        for (String word : words.split(" ", -1)) {
            if (!fresh
                    && line.length() + 1 + word.length() > WIDTH
                    && !line.toString().isBlank()) {
                text.append(line.toString().stripTrailing()).append('\n');
                line = new StringBuilder(" ".repeat(hanging));
                fresh = true;
            }
            line.append(fresh ? "" : " ").append(word);
            fresh = false;
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }
}
