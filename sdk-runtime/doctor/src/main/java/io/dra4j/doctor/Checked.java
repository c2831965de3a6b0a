// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.List;
import java.util.function.Predicate;

/**
 * A check, after it looked or could not.
 *
 * @param id of the check
 * @param fact what it looked at; empty if it could not look
 * @param findings what is wrong
 * @param notChecked why it could not look; empty if it did
 */
record Checked(String id, String fact, List<Finding> findings, String notChecked) {

    static Checked of(Check check) {
        try {
            Result result = check.look();
            return new Checked(check.id(), result.fact(), result.findings(), "");
        } catch (NotCheckedException e) {
            return new Checked(check.id(), "", List.of(), String.valueOf(e.getMessage()));
        } catch (RuntimeException e) { // a defect of one check must not lose what others found
            return new Checked(check.id(), "", List.of(), unexpected(e));
        }
    }

    private static String unexpected(RuntimeException e) {
        StackTraceElement[] stack = e.getStackTrace();
        return "unexpected %s%s: a defect of the check, please report it"
                .formatted(e, stack.length == 0 ? "" : " at " + stack[0]);
    }

    /** Returns the same check with some of its findings. */
    Checked withFindings(Predicate<Finding> wanted) {
        return new Checked(id, fact, findings.stream().filter(wanted).toList(), notChecked);
    }

    boolean isHealthy() {
        return findings.isEmpty() && notChecked.isEmpty();
    }
}
