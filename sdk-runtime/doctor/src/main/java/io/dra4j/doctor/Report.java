// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;

/** The results of all checks of a run, as text for a screen and as JSON for tools. */
public final class Report {

    /** All checks looked, and found nothing. */
    public static final int HEALTHY = 0;

    /** There are findings. */
    public static final int FOUND = 1;

    /** There are no findings, but a check could not look. */
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
     * @param command the command's name, with which the text begins
     * @param subject what they look at, such as {@code node gpu-1}
     */
    public static Report of(String command, String subject, List<? extends Check> checks) {
        return new Report(command, subject, checks.stream().map(Checked::of).toList());
    }

    /** Returns this report, with the findings alone that an earlier report has, too. */
    Report foundBefore(Report earlier) {
        return with(one -> one.foundBefore(earlier.checks));
    }

    /** Returns this report of a first look, whose findings could not be looked at again. */
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

    /** The report as text: a line for each check, then each finding, then the sum. */
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
        return root.toPrettyString() + "\n";
    }

    private static JsonNode json(Finding finding) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("id", finding.id())
                .put("severity", ReportText.lower(finding.severity()))
                .put("object", finding.object())
                .put("what", finding.what())
                .put("why", finding.why());
        finding.mend().forEach(json.putArray("mend")::add);
        return json;
    }
}
