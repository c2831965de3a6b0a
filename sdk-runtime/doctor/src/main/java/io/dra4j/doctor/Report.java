// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The results of all checks of a run, as text for a screen and as JSON for tools. */
public final class Report {

    /** All checks ran, and found nothing. */
    public static final int HEALTHY = 0;

    /** There are findings. */
    public static final int FOUND = 1;

    /** There are no findings, but a check could not run. */
    public static final int INCOMPLETE = 2;

    private final String command;
    private final String subject;
    private final List<Checked> checks;

    private Report(String command, String subject, List<Checked> checks) {
        this.command = command;
        this.subject = subject;
        this.checks = checks;
    }

    /**
     * Runs checks, each once and in their order.
     *
     * @param subject what they look at, such as {@code node gpu-1}
     */
    public static Report of(String subject, List<? extends Check> checks) {
        return of("doctor", subject, checks);
    }

    /**
     * Runs checks of another command, each once and in their order.
     *
     * @param command the command's name, which starts the text
     * @param subject what they look at, such as {@code node gpu-1}
     */
    public static Report of(String command, String subject, List<? extends Check> checks) {
        return new Report(command, subject, checks.stream().map(Checked::of).toList());
    }

    /** Returns this report with only the findings that an earlier report also has. */
    Report foundBefore(Report earlier) {
        return with(one -> one.foundBefore(earlier.checks));
    }

    /** Returns this report of a first look whose findings could not be checked again. */
    Report foundOnce(String reason) {
        return with(one -> one.foundOnce(reason));
    }

    private Report with(UnaryOperator<Checked> change) {
        return new Report(command, subject, checks.stream().map(change).toList());
    }

    /** All findings: errors first, and otherwise in the order of the checks. */
    public List<Finding> findings() {
        return checks.stream()
                .flatMap(one -> one.findings().stream())
                .sorted(Comparator.comparing(Finding::severity))
                .toList();
    }

    /** The exit status of a program that prints this. */
    public int exitStatus() {
        if (checks.stream().anyMatch(one -> !one.findings().isEmpty())) {
            return FOUND;
        }
        return checks.stream().allMatch(Checked::isHealthy) ? HEALTHY : INCOMPLETE;
    }

    /** The report as text: a line for each check, then each finding, then the totals. */
    public String text() {
        return ReportText.of(command + ": " + subject, checks, findings());
    }

    /** The report as JSON. */
    public String json() {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("subject", subject);
        root.put("exitStatus", exitStatus());
        ArrayNode findings = root.putArray("findings");
        findings().forEach(one -> findings.add(json(one)));
        ArrayNode notChecked = root.putArray("notChecked");
        ArrayNode healthy = root.putArray("healthy");
        for (Checked one : checks) {
            if (!one.notChecked().isEmpty()) {
                notChecked.addObject().put("id", one.id()).put("reason", one.notChecked());
            } else if (one.isHealthy()) {
                healthy.addObject().put("id", one.id()).put("fact", one.fact());
            }
        }
        return AsciiJson.of(root);
    }

    private static JsonNode json(Finding finding) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("id", finding.id())
                .put("severity", ReportText.lower(finding.severity()))
                .put("object", finding.object())
                .put("what", finding.what())
                .put("why", finding.why());
        finding.fix().forEach(json.putArray("fix")::add);
        return json;
    }

    /** Renders a report as text. */
    private static final class ReportText {

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
            int longest =
                    checks.stream().mapToInt(one -> one.id().length()).max().orElse(0);
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
            return one.isHealthy()
                    ? one.fact()
                    : CheckResult.number(one.findings().size(), "finding");
        }

        private void finding(Finding finding) {
            text.append('\n');
            wrap(
                    "%s %s, %s: %s"
                            .formatted(lower(finding.severity()), finding.id(), finding.object(), finding.what()),
                    "",
                    2);
            wrap("why: " + finding.why(), INDENT, 7);
            for (int i = 0; i < finding.fix().size(); i++) {
                // Commands are never wrapped, so that they can be copied.
                text.append(i == 0 ? "  fix: " : "       ")
                        .append(finding.fix().get(i))
                        .append('\n');
            }
        }

        private void sum(List<Checked> checks, int findings) {
            long blind =
                    checks.stream().filter(one -> !one.notChecked().isEmpty()).count();
            text.append('\n')
                    .append(CheckResult.number(checks.size() - blind, "check"))
                    .append(" ran: ");
            text.append(findings == 0 ? "nothing found" : CheckResult.number(findings, "finding"));
            text.append(blind == 0 ? "" : "; " + CheckResult.number(blind, "check") + " could not run")
                    .append('\n');
        }

        /** Breaks at spaces; lines after the first are indented by this much. */
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
}
