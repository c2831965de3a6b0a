// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The result of a check that ran or could not run.
 *
 * @param id the check's id
 * @param fact what it checked; empty if it could not run
 * @param findings what is wrong
 * @param notChecked why it could not run; empty if it did
 */
record Checked(String id, String fact, List<Finding> findings, String notChecked) {

    static Checked of(Check check) {
        try {
            CheckResult result = check.look();
            return new Checked(check.id(), result.fact(), result.findings(), "");
        } catch (NotCheckedException e) {
            return new Checked(check.id(), "", List.of(), String.valueOf(e.getMessage()));
        } catch (RuntimeException e) { // a defect of one check must not lose what others found
            return new Checked(check.id(), "", List.of(), unexpected(e));
        }
    }

    private static String unexpected(RuntimeException e) {
        StackTraceElement[] stack = e.getStackTrace();
        return "unexpected %s%s: a defect in the check, please report it"
                .formatted(e, stack.length == 0 ? "" : " at " + stack[0]);
    }

    /**
     * Returns the same check with only the findings that an earlier look also had.
     *
     * <p>If it found something in one look and could not run in the other, it counts as one that could not run.
     */
    Checked foundBefore(List<Checked> earlier) {
        List<Checked> same = earlier.stream().filter(one -> one.id.equals(id)).toList();
        List<Finding> before =
                same.stream().flatMap(one -> one.findings.stream()).toList();
        if (!notChecked.isEmpty()) {
            return foundOnce(before, "the second look", notChecked);
        }
        if (same.stream().noneMatch(one -> one.notChecked.isEmpty())) {
            return foundOnce(
                    findings, "the first look", same.isEmpty() ? "there was no such check" : same.get(0).notChecked);
        }
        Set<String> keys = before.stream().map(Finding::key).collect(Collectors.toSet());
        return new Checked(
                id,
                fact,
                findings.stream().filter(one -> keys.contains(one.key())).toList(),
                "");
    }

    /** Returns the same check of a first look, after a second one that failed as a whole. */
    Checked foundOnce(String reason) {
        return foundOnce(findings, "the second look", reason);
    }

    private Checked foundOnce(List<Finding> found, String failed, String reason) {
        if (found.isEmpty()) {
            return this;
        }
        String objects = found.stream().map(Finding::object).collect(Collectors.joining("; "));
        return new Checked(
                id,
                "",
                List.of(),
                "found once, for %s; %s failed: %s; run the command again".formatted(objects, failed, reason));
    }

    boolean isHealthy() {
        return findings.isEmpty() && notChecked.isEmpty();
    }
}
